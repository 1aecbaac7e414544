/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/dirlist.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/thread.h"
#include "base/vec.h"
#include "collector/daemon/seal.h"
#include "collector/store/session.h"
#include "libspec/name/clock.h"
#include "libspec/session/stats.h"

enum {
	LOOK_SECONDS = 30,
	FIRST_RETRY_S = 5,
	LAST_RETRY_S = 300,
	MAX_GONE = 10000,
	NICE = 5
};

static const char gone_prefix[] = ".gone.";

struct coll_keeper {
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows up to @samples_fd */
	pthread_cond_t wake;
	struct coll_keep keep;
	struct coll_symbols symbols;
	uint64_t current, removed, lost;
	bool busy, woken, quit, make_room;
	coll_held_fds held; /* files of containers: what they tell is kept next */
	int samples_fd;     /* borrowed; constant */
	/* of the thread only */
	struct map sizes;   /* session -> bytes on the disk */
	struct map ends;    /* session -> when it ended, as end_ns() tells */
	struct map figures; /* session that could not be closed -> struct coll_figures */
	time_t retry;       /* a manifest could not be written: not before that, */
	unsigned retry_s;   /* which is so long after; twice as long each time */
};

/* What one look at the sessions goes by. */
struct look {
	struct coll_keep keep;
	struct coll_symbols symbols;
	uint64_t current;
	bool make_room;
	coll_held_fds held;
};

/* A session that rotation made. */
struct rotated {
	const char *name;
	uint64_t generation, bytes;
	int64_t end_ns; /* CLOCK_BOOTTIME; before 0: before the machine began */
};

int coll_keeper_take(int samples_fd, const char *name, char gone[COLL_GONE_NAME],
		     struct err *err)
{
	char room[COLL_GONE_NAME], *to = gone ? gone : room;

	for (int i = 0; i < MAX_GONE; i++) {
		snprintf(to, COLL_GONE_NAME, "%s%d", gone_prefix, i);
		if (!renameat2(samples_fd, name, samples_fd, to, RENAME_NOREPLACE))
			return 0;
		if (errno == ENOENT)
			return err_set(err, -ENOENT, "there is no session %s", name);
		if (errno != EEXIST)
			break;
	}
	return err_errno(err, -errno, "removing session %s", name);
}

uint64_t coll_keeper_disk_usage(int samples_fd, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	uint64_t bytes = 0;
	char *roots[2] = { 0 };
	FTSENT *entry;
	FTS *fts;

	strbuf_printf(&path, "/proc/self/fd/%d/%s", samples_fd, name);
	if (strbuf_error(&path))
		return 0;
	roots[0] = path.data;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (fts && (entry = fts_read(fts)))
		if (entry->fts_info == FTS_F || entry->fts_info == FTS_D)
			bytes += (uint64_t)entry->fts_statp->st_blocks * 512;
	if (fts)
		fts_close(fts);
	return bytes;
}

/* A session that is closed does not change. */
static uint64_t size_of(struct coll_keeper *k, const char *name)
{
	uint64_t bytes = 0;

	if (map_get(&k->sizes, name, strlen(name), &bytes))
		return bytes;
	bytes = coll_keeper_disk_usage(k->samples_fd, name);
	if (map_set(&k->sizes, name, strlen(name), bytes))
		return bytes;
	return bytes;
}

/*
 * When a session ended, by a clock that nobody sets: its age by the clock of the day is
 * asked once, when it is first seen.  A clock that is set forward later makes nothing
 * older, and one that is set back keeps nothing for ever.
 */
static int64_t end_ns(struct coll_keeper *k, const char *name, uint64_t drained_ns)
{
	uint64_t now = clock_real_ns(), end;

	if (map_get(&k->ends, name, strlen(name), &end))
		return (int64_t)end;
	end = clock_boot_ns() - (drained_ns < now ? now - drained_ns : 0);
	/* else it is asked again */
	(void)!map_set(&k->ends, name, strlen(name), end);
	return (int64_t)end;
}

/* One that was made by rotation, and by a daemon: others are not ours to remove. */
static bool find_rotated(struct coll_keeper *k, const char *name, struct rotated *out)
{
	CLEANUP(close_fd)
	int fd = openat(k->samples_fd, name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct spec_live live = { 0 };

	if (fd < 0 || !coll_session_name_is_time(name) ||
	    faccessat(fd, COLL_SETTINGS, F_OK, AT_SYMLINK_NOFOLLOW))
		return false;
	spec_live_read(fd, &live, NULL);
	*out = (struct rotated){ .name = name,
				 .generation = live.generation,
				 .end_ns = end_ns(k, name, live.drained_ns),
				 .bytes = size_of(k, name) };
	return true;
}

/* By generation: clocks may have been set back. */
static int compare(const void *a, const void *b)
{
	const struct rotated *x = a, *y = b;

	if (x->generation != y->generation)
		return x->generation < y->generation ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void drop_figures(struct coll_keeper *k, const char *name)
{
	uint64_t value;

	if (!map_get(&k->figures, name, strlen(name), &value))
		return;
	map_del(&k->figures, name, strlen(name));
	free((struct coll_figures *)(uintptr_t)value);
}

static void remove_session(struct coll_keeper *k, const char *name, const char *why)
{
	struct err err = { 0 };

	if (coll_keeper_take(k->samples_fd, name, NULL, &err)) {
		log_err("%s", err.msg);
		return;
	}
	map_del(&k->sizes, name, strlen(name));
	map_del(&k->ends, name, strlen(name));
	drop_figures(k, name);
	log_note("session %s removed: %s", name, why);
	pthread_mutex_lock(&k->lock);
	k->removed++;
	pthread_mutex_unlock(&k->lock);
}

static uint64_t age_s(const struct rotated *r)
{
	return (uint64_t)((int64_t)clock_boot_ns() - r->end_ns) / SPEC_NS_PER_S;
}

/* NULL: the oldest of @left sessions, @bytes in all, is kept. */
static const char *why_remove(const struct coll_keep *keep, const struct rotated *oldest,
			      size_t left, uint64_t bytes)
{
	if (keep->count && left > keep->count)
		return "more than --keep";
	if (keep->bytes && bytes > keep->bytes)
		return "over the size of --keep";
	return keep->age_s && age_s(oldest) > keep->age_s ? "older than --keep" : NULL;
}

/* Removes the oldest, as long as there is a reason. */
static void retain(struct coll_keeper *k, const struct names *all,
		   const struct look *look)
{
	VEC(struct rotated) list = { 0 };
	uint64_t bytes = look->current;
	bool make_room = look->make_room;
	size_t left;

	for (size_t i = 0; i < all->len; i++) {
		struct rotated r;

		if (!find_rotated(k, all->data[i], &r))
			continue;
		if (vec_push(&list, r))
			break;
		bytes += r.bytes;
	}
	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), compare);
	left = list.len;
	vec_for(&list, r) {
		const char *why = why_remove(&look->keep, r, left, bytes);

		if (!why && make_room)
			why = "the disk is nearly full";
		if (!why)
			break;
		remove_session(k, r->name, why);
		make_room = false;
		left--;
		bytes -= r->bytes;
	}
	vec_fini(&list);
}

static void tell_lost(struct coll_keeper *k, const char *name, uint64_t lost)
{
	if (!lost)
		return;
	log_err("session %s: the disk refused %" PRIu64 " samples that had been counted",
		name, lost);
	pthread_mutex_lock(&k->lock);
	k->lost += lost;
	pthread_mutex_unlock(&k->lock);
}

/* NULL if out of memory: another time, then. */
static struct coll_figures *figures_of(struct coll_keeper *k, const char *name)
{
	struct coll_figures *figures;
	uint64_t value;

	if (map_get(&k->figures, name, strlen(name), &value))
		return (struct coll_figures *)(uintptr_t)value;
	figures = calloc(1, sizeof(*figures));
	if (figures && map_set(&k->figures, name, strlen(name), (uintptr_t)figures)) {
		free(figures);
		return NULL;
	}
	return figures;
}

static void seal(struct coll_keeper *k, const struct look *look, const char *name)
{
	struct coll_figures *figures;
	struct err err = { 0 };
	uint64_t lost;
	int rc;

	if ((time_t)(clock_mono_ns() / CLOCK_NS_PER_S) < k->retry ||
	    !coll_seal_due(k->samples_fd, name))
		return;
	figures = figures_of(k, name);
	if (!figures)
		return;
	coll_symbols_keep_held(k->samples_fd, name, &look->symbols, &look->held);
	coll_symbols_keep(k->samples_fd, name, &look->symbols);
	rc = coll_seal(k->samples_fd, name, figures, &lost, &err);
	tell_lost(k, name, lost);
	if (!rc) {
		k->retry_s = 0;
		drop_figures(k, name);
		log_debug(LOG_MISC, "session %s is closed", name);
		map_del(&k->sizes, name, strlen(name));
		return;
	}
	log_err("session %s has no manifest yet: %s", name, err.msg);
	k->retry_s = !k->retry_s                     ? FIRST_RETRY_S
		     : 2 * k->retry_s < LAST_RETRY_S ? 2 * k->retry_s
						     : LAST_RETRY_S;
	k->retry = (time_t)(clock_mono_ns() / CLOCK_NS_PER_S) + k->retry_s;
}

static bool should_quit(struct coll_keeper *k)
{
	bool quit;

	pthread_mutex_lock(&k->lock);
	quit = k->quit;
	pthread_mutex_unlock(&k->lock);
	return quit;
}

static void work(struct coll_keeper *k, const struct look *look)
{
	CLEANUP(names_fini) struct names all = { 0 };
	const struct coll_keep *keep = &look->keep;
	bool gone = false;

	if (dirlist_read(k->samples_fd, &all))
		return;
	/* what makes room first */
	if (keep->count || keep->age_s || keep->bytes)
		retain(k, &all, look);
	for (size_t i = 0; i < all.len; i++)
		if (all.data[i][0] != '.' && strcmp(all.data[i], "current") != 0)
			seal(k, look, all.data[i]);
	/* and of those that went on meanwhile */
	coll_symbols_keep_held(k->samples_fd, "current", &look->symbols, &look->held);
	names_fini(&all);
	if (dirlist_read(k->samples_fd, &all))
		return;
	for (size_t i = 0; i < all.len && !should_quit(k); i++) {
		if (strncmp(all.data[i], gone_prefix, sizeof(gone_prefix) - 1) != 0)
			continue;
		file_remove_tree(k->samples_fd, all.data[i], NULL);
		gone = true;
	}
	if (gone)
		coll_symbols_keep(k->samples_fd, NULL, &look->symbols);
}

static void *run(void *arg)
{
	struct coll_keeper *k = arg;
	bool last = false;

	/* of this thread: samples come first */
	setpriority(PRIO_PROCESS, 0, NICE);
	pthread_mutex_lock(&k->lock);
	while (!last) {
		struct timespec until;
		struct look look;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += LOOK_SECONDS;
		while (!k->woken && !k->quit)
			if (pthread_cond_timedwait(&k->wake, &k->lock, &until))
				break;
		last = k->quit;
		look = (struct look){ .keep = k->keep,
				      .symbols = k->symbols,
				      .current = k->current,
				      .make_room = k->make_room };
		look.held.data = k->held.data;
		look.held.len = k->held.len;
		k->held = (coll_held_fds){ 0 };
		k->make_room = k->woken = false;
		k->busy = true;
		pthread_mutex_unlock(&k->lock);
		work(k, &look);
		coll_held_close(&look.held);
		pthread_mutex_lock(&k->lock);
		k->busy = false;
	}
	pthread_mutex_unlock(&k->lock);
	return NULL;
}

int coll_keeper_new(int samples_fd, const struct coll_daemon_options *o,
		    struct coll_keeper **out, struct err *err)
{
	struct coll_keeper *k = calloc(1, sizeof(*k));
	pthread_condattr_t attr;
	int rc;

	if (!k)
		return err_errno(err, -ENOMEM, "keeper of sessions");
	k->samples_fd = samples_fd;
	k->keep = o->keep;
	k->symbols = o->sampling.symbols;
	k->woken = true;
	pthread_mutex_init(&k->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&k->wake, &attr);
	pthread_condattr_destroy(&attr);
	rc = thread_start(&k->thread, run, k);
	if (rc) {
		free(k);
		return err_errno(err, rc, "keeper of sessions");
	}
	*out = k;
	return 0;
}

void coll_keeper_free(struct coll_keeper *k)
{
	const void *name;
	size_t pos = 0, len;
	uint64_t value;

	if (!k)
		return;
	pthread_mutex_lock(&k->lock);
	k->quit = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
	pthread_join(k->thread, NULL);
	coll_held_close(&k->held);
	map_fini(&k->sizes);
	map_fini(&k->ends);
	while (map_next(&k->figures, &pos, &name, &len, &value))
		free((struct coll_figures *)(uintptr_t)value);
	map_fini(&k->figures);
	pthread_cond_destroy(&k->wake);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

void coll_keeper_hold(struct coll_keeper *k, coll_held_fds *held)
{
	pthread_mutex_lock(&k->lock);
	vec_for(held, fd)
		if (vec_push(&k->held, *fd))
			close(*fd);
	k->woken |= held->len != 0;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
	vec_fini(held);
}

void coll_keeper_wake(struct coll_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->woken = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

void coll_keeper_set(struct coll_keeper *k, const struct coll_daemon_options *o)
{
	pthread_mutex_lock(&k->lock);
	k->keep = o->keep;
	k->symbols = o->sampling.symbols;
	pthread_mutex_unlock(&k->lock);
	coll_keeper_wake(k);
}

void coll_keeper_current(struct coll_keeper *k, uint64_t bytes)
{
	pthread_mutex_lock(&k->lock);
	k->current = bytes;
	pthread_mutex_unlock(&k->lock);
}

void coll_keeper_make_room(struct coll_keeper *k)
{
	pthread_mutex_lock(&k->lock);
	k->make_room = true;
	pthread_mutex_unlock(&k->lock);
	coll_keeper_wake(k);
}

bool coll_keeper_busy(struct coll_keeper *k)
{
	bool busy;

	pthread_mutex_lock(&k->lock);
	busy = k->busy || k->woken;
	pthread_mutex_unlock(&k->lock);
	return busy;
}

static uint64_t figure(struct coll_keeper *k, const uint64_t *of)
{
	uint64_t n;

	pthread_mutex_lock(&k->lock);
	n = *of;
	pthread_mutex_unlock(&k->lock);
	return n;
}

uint64_t coll_keeper_lost(struct coll_keeper *k)
{
	return figure(k, &k->lost);
}

uint64_t coll_keeper_removed(struct coll_keeper *k)
{
	return figure(k, &k->removed);
}
