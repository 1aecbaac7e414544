/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "opfs/catalog.h"
#include "opfs/catalog_parts.h"

/* Sets of sessions that are remembered; who asks for more in turn reads them again. */
enum { MAX_SETS = 64 };
enum { REREAD_NS = 1000000000, LOOK_NS = 20000000 };

/* One set of sessions.  Its lock is held while it is read, so one thread reads. */
struct set {
	pthread_mutex_t lock;
	int refs; /* guarded by the store: the store's own and users' */
	char *key;
	struct catalog *cat; /* guarded by @lock, as the rest */
	uint64_t read_ns;    /* CLOCK_MONOTONIC when @cat was read or found unchanged */
	uint64_t looked_ns;  /* when it was last looked for changes */
	uint64_t print;      /* what @cat's files looked like */
};

/* Of all stores, so that catalogs of different ones differ too; atomic. */
static uint64_t last_generation;

struct catalog_store {
	char *path;
	int fd;
	char *archive; /* where files of the sampled machine may be, see archive_dir.h */
	pthread_mutex_t lock;     /* of the sets; taken after none, held for moments */
	struct set *sets[MAX_SETS];
	unsigned next; /* the slot to be given away next */
	struct catalog_parts *parts;
};

/* In what OProfile's oparchive made, the session directory is where it always is. */
static int find_archive(struct catalog_store *s)
{
	CLEANUP(free_ptr) char *real = realpath(s->path, NULL);
	CLEANUP(strbuf_fini) struct strbuf root = { 0 };
	CLEANUP(close_fd) int below = -1;

	if (!real)
		return -errno;
	strbuf_puts(&root, real);
	if (faccessat(s->fd, "samples", F_OK, 0))
		below = openat(s->fd, ARCHIVE_DIR_OPROFILE,
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (below < 0) {
		strbuf_puts(&root, "/" ARCHIVE_DIR);
	} else {
		close(s->fd);
		s->fd = take_fd(&below);
	}
	s->archive = strbuf_take(&root);
	return s->archive ? 0 : -ENOMEM;
}

int catalog_store_new(const char *session_dir, struct catalog_store **out,
		      struct err *err)
{
	struct catalog_store *s = calloc(1, sizeof(*s));
	int code;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&s->lock, NULL);
	s->path = strdup(session_dir);
	s->fd = open(session_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	code = s->fd < 0 ? -errno : 0;
	s->parts = catalog_parts_new();
	code = code ? code : s->path && s->parts ? 0 : -ENOMEM;
	code = code ? code : find_archive(s);
	if (!code) {
		*out = s;
		return 0;
	}
	catalog_store_free(s);
	if (code == -ENOENT)
		return err_set(err, code,
			       "%s: no such session directory; record one with "
			       "\"opcollect record -- COMMAND\", or name another with "
			       "--session-dir",
			       session_dir);
	if (code == -EACCES)
		return err_set(err, code,
			       "%s: this session directory does not allow you to read it "
			       "(its owner can: chmod o+rx)",
			       session_dir);
	return err_errno(err, code, "%s", session_dir);
}

static void set_free(struct set *set)
{
	pthread_mutex_destroy(&set->lock);
	catalog_put(set->cat);
	free(set->key);
	free(set);
}

void catalog_store_free(struct catalog_store *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < MAX_SETS; i++)
		if (s->sets[i])
			set_free(s->sets[i]);
	catalog_parts_free(s->parts);
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s->archive);
	free(s->path);
	free(s);
}

int catalog_store_fd(const struct catalog_store *s)
{
	return s->fd;
}

const char *catalog_store_path(const struct catalog_store *s)
{
	return s->path;
}

/* ---- sets */

static void set_put(struct catalog_store *s, struct set *set)
{
	bool last;

	pthread_mutex_lock(&s->lock);
	last = --set->refs == 0;
	pthread_mutex_unlock(&s->lock);
	if (last)
		set_free(set);
}

/* The store's lock is held.  What is put away may be in use: its users free it. */
static struct set *add_set(struct catalog_store *s, const char *key, struct set **dead)
{
	struct set *set = calloc(1, sizeof(*set));

	if (set)
		set->key = strdup(key);
	if (!set || !set->key) {
		free(set);
		return NULL;
	}
	pthread_mutex_init(&set->lock, NULL);
	set->refs = 1;
	*dead = s->sets[s->next];
	if (*dead && --(*dead)->refs)
		*dead = NULL;
	s->sets[s->next] = set;
	s->next = (s->next + 1) % MAX_SETS;
	return set;
}

/* NULL: out of memory, or not there and not to be made. */
static struct set *set_get(struct catalog_store *s, char *const *names, size_t nr,
			   bool make)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct set *set = NULL, *dead = NULL;

	for (size_t i = 0; i < nr; i++)
		strbuf_printf(&key, "%s/", names[i]);
	if (strbuf_error(&key))
		return NULL;
	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < MAX_SETS && !set; i++)
		if (s->sets[i] && !strcmp(s->sets[i]->key, strbuf_str(&key)))
			set = s->sets[i];
	if (!set && make)
		set = add_set(s, strbuf_str(&key), &dead);
	if (set)
		set->refs++;
	pthread_mutex_unlock(&s->lock);
	if (dead)
		set_free(dead);
	return set;
}

/* ---- freshness */

enum freshness {
	FRESH,   /* as it was read */
	STALE,   /* certainly something else now */
	UNKNOWN, /* cannot be told without reading it again */
};

/* Is the session the directory that was read, in the state it was read in? */
static enum freshness look_at(const struct catalog_store *s, int samples_fd,
			      const struct catalog_dir *d)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct spec_live live = { 0 };
	struct stat st;

	strbuf_printf(&path, "samples/%s", d->session);
	if (strbuf_error(&path))
		return STALE;
	if (catalog_parts_is_same(d, samples_fd))
		return FRESH;
	if (fstatat(s->fd, strbuf_str(&path), &st, 0))
		return d->fd < 0 && errno == ENOENT ? FRESH : STALE;
	if (d->fd < 0 || st.st_dev != d->dev || st.st_ino != d->ino)
		return STALE;
	if (spec_live_read(d->fd, &live, NULL)) /* one of OProfile's */
		return d->has_live                      ? STALE
		       : !strcmp(d->session, "current") ? UNKNOWN
							: FRESH;
	return d->has_live && live.generation == d->live.generation &&
			       live.closed == d->live.closed
		       ? FRESH
		       : STALE;
}

/* The set's lock is held. */
static enum freshness freshness(const struct catalog_store *s, struct set *set)
{
	CLEANUP(close_fd) int samples_fd = -1;
	enum freshness worst = FRESH;
	uint64_t now = clock_mono_ns();

	if (!set->cat)
		return STALE;
	if (set->looked_ns && now - set->looked_ns < LOOK_NS)
		return FRESH;
	samples_fd = openat(s->fd, "samples", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < set->cat->nr_dirs && worst != STALE; i++) {
		enum freshness f = look_at(s, samples_fd, &set->cat->dirs[i]);

		worst = f == FRESH ? worst : f;
	}
	if (worst == UNKNOWN && now - set->read_ns < REREAD_NS)
		worst = FRESH;
	if (worst == FRESH)
		set->looked_ns = now;
	return worst;
}

static uint64_t mix(uint64_t h, const void *data, size_t len)
{
	return (h ^ map_hash(data, len)) * 0x100000001b3u;
}

/* Everything a reader of the catalog could see, in a number. */
static uint64_t print_of(const struct catalog *c)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < c->nr_files; i++) {
		const struct catalog_file *f = &c->files[i];

		h = mix(h, &f->dir, sizeof(f->dir));
		h = mix(h, f->path, strlen(f->path));
		h = mix(h, &f->total, sizeof(f->total));
		h = mix(h, &f->header, sizeof(f->header));
	}
	for (size_t i = 0; i < c->nr_bad; i++) {
		h = mix(h, c->bad[i].path, strlen(c->bad[i].path));
		h = mix(h, c->bad[i].reason, strlen(c->bad[i].reason));
	}
	for (size_t i = 0; i < c->nr_dirs; i++) {
		const struct catalog_dir *d = &c->dirs[i];

		h = mix(h, &d->dev, sizeof(d->dev));
		h = mix(h, &d->ino, sizeof(d->ino));
		h = mix(h, &d->stats, sizeof(d->stats));
		h = mix(h, &d->live.generation, sizeof(d->live.generation));
		h = mix(h, &d->live.closed, sizeof(d->live.closed));
		h = mix(h, &d->nr_notes, sizeof(d->nr_notes));
		h = mix(h, &d->nr_throttled, sizeof(d->nr_throttled));
		h = mix(h, &d->rows.nr, sizeof(d->rows.nr));
	}
	return h;
}

/* The set's lock is held. */
static int reread(struct catalog_store *s, struct set *set, char *const *names, size_t nr,
		  const struct viewer *v, struct err *err)
{
	uint64_t began = clock_mono_ns(), print;
	struct catalog *c;
	int rc = catalog_load(s->fd, names, nr, s->parts, v, &c, err);

	if (rc == -ENOENT) { /* removed: let go of its files */
		catalog_put(set->cat);
		set->cat = NULL;
	}
	if (!rc && archive_dir_init(&c->archive, s->archive, &c->arena)) {
		catalog_put(c);
		rc = err_set(err, -ENOMEM, "out of memory");
	}
	if (rc)
		return rc;
	print = print_of(c);
	set->read_ns = set->looked_ns = began;
	if (set->cat && set->print == print) {
		catalog_put(c);
		return 0;
	}
	c->generation = __atomic_add_fetch(&last_generation, 1, __ATOMIC_RELAXED);
	catalog_put(set->cat);
	set->cat = c;
	set->print = print;
	return 0;
}

bool catalog_store_ready(struct catalog_store *s, char *const *names, size_t nr)
{
	struct set *set = set_get(s, names, nr, false);
	bool ready;

	if (!set)
		return false;
	if (pthread_mutex_trylock(&set->lock)) { /* it is being read */
		set_put(s, set);
		return false;
	}
	ready = freshness(s, set) == FRESH;
	pthread_mutex_unlock(&set->lock);
	set_put(s, set);
	return ready;
}

int catalog_store_get(struct catalog_store *s, char *const *names, size_t nr,
		      const struct viewer *v, struct catalog **out, struct err *err)
{
	struct set *set = set_get(s, names, nr, true);
	int rc = 0;

	if (!set)
		return err_set(err, -ENOMEM, "out of memory");
	pthread_mutex_lock(&set->lock);
	if (freshness(s, set) != FRESH)
		rc = reread(s, set, names, nr, v, err);
	if (!rc)
		*out = catalog_get(set->cat);
	pthread_mutex_unlock(&set->lock);
	set_put(s, set);
	return rc;
}
