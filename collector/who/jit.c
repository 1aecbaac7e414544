/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/jit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "collector/who/maps.h"
#include "collector/who/numbers.h"
#include "collector/who/procfs.h"
#include "libspec/jit/jit_file.h"
#include "libspec/session/stats.h"

enum { FEW = 16, MANY = 256, ROOMY = 8192 };
enum { PLAIN_MS = 100, PLAIN_MOST_MS = 60000 };

struct coll_jit_dir {
	int fd; /* of O_PATH */
	unsigned refs;
	dev_t dev;
	ino_t ino;
};

/* A program that a process runs: another one once it executes another. */
struct coll_jit_proc {
	uint64_t id;
	uint32_t tgid, nspid; /* @nspid: 0: unknown */
	uint32_t uid;
	uint64_t start_ns; /* CLOCK_MONOTONIC; 0: unknown */
	struct coll_jit_dir *tmp;
	char *dump; /* path of its jitdump; NULL: none is known */
	uint64_t inode;
	VEC(struct coll_jit_region) regions; /* in no order */
	bool due;                            /* since it was asked for last */
	bool missed;                         /* it had ended before its /tmp was held */
	bool ended;                          /* or is another program now */
	bool holding;                        /* the question for its /tmp is open, */
	bool wanted;                         /* and that for its names is to follow */
	unsigned fetching;                   /* so many for its names are open */
	unsigned asking;                     /* and for how its code is unwound */
	uint64_t session;                    /* that the names are for */
	/* its files told nothing of how its code is unwound: until then, and for how long
	 * they are not asked, in milliseconds */
	uint64_t plain_until_ns, plain_ms;
};

void coll_jit_init(struct coll_jit *j, int session_fd)
{
	*j = (struct coll_jit){ .session_fd = session_fd,
				.taken = SPEC_JIT_NOT_COUNTED,
				.began_ns = clock_mono_ns() };
}

/* ---- directories */

/* Sample files take most descriptors (collector/store/sink.c). */
static size_t most_dirs(void)
{
	struct rlimit lim;

	return getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur < ROOMY ? FEW : MANY;
}

/* Takes over @fd.  NULL: it cannot be held. */
static struct coll_jit_dir *hold_dir(struct coll_jit *j, int fd)
{
	CLEANUP(close_fd) int owned = fd;
	struct coll_jit_dir *d;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return NULL;
	vec_for(&j->dirs, at)
		if ((*at)->dev == st.st_dev && (*at)->ino == st.st_ino) {
			(*at)->refs++;
			return *at;
		}
	d = j->dirs.len < most_dirs() ? calloc(1, sizeof(*d)) : NULL;
	if (!d || vec_push(&j->dirs, d)) {
		free(d);
		return NULL;
	}
	*d = (struct coll_jit_dir){
		.fd = take_fd(&owned), .refs = 1, .dev = st.st_dev, .ino = st.st_ino
	};
	return d;
}

static void put_dir(struct coll_jit *j, struct coll_jit_dir *d)
{
	if (!d || --d->refs)
		return;
	vec_for(&j->dirs, at)
		if (*at == d) {
			*at = j->dirs.data[--j->dirs.len];
			break;
		}
	close(d->fd);
	free(d);
}

/* ---- processes */

static void free_proc(struct coll_jit *j, struct coll_jit_proc *p)
{
	put_dir(j, p->tmp);
	vec_fini(&p->regions);
	free(p->dump);
	free(p);
}

static struct coll_jit_proc *find(const struct map_u64 *map, uint64_t key)
{
	uint64_t value;

	return map_u64_get(map, key, &value) ? (struct coll_jit_proc *)(uintptr_t)value
					     : NULL;
}

/* Forgets it, if it is over and nothing is asked about it. */
static void put_proc(struct coll_jit *j, struct coll_jit_proc *p)
{
	if (!p->ended || p->due || p->holding || p->fetching || p->asking)
		return;
	map_u64_del(&j->by_id, p->id);
	free_proc(j, p);
}

static bool add_proc(struct coll_jit *j, struct coll_jit_proc *p)
{
	if (map_u64_set(&j->by_id, p->id, (uintptr_t)p))
		return false;
	if (!map_u64_set(&j->by_tgid, p->tgid, (uintptr_t)p))
		return true;
	map_u64_del(&j->by_id, p->id);
	return false;
}

void coll_jit_fini(struct coll_jit *j)
{
	uint64_t id, value;
	size_t pos = 0;

	while (map_u64_next(&j->by_id, &pos, &id, &value))
		free_proc(j, (struct coll_jit_proc *)(uintptr_t)value);
	map_u64_fini(&j->by_id);
	map_u64_fini(&j->by_tgid);
	vec_fini(&j->dirs);
}

/* ---- its /tmp */

static void fetch(struct coll_jit *j, struct coll_jit_proc *p);

static void take_held(struct coll_jit *j, struct coll_jit_proc *p, const char *answer,
		      size_t len)
{
	CLEANUP(close_fd) int fd = coll_asker_file(j->asker);
	struct coll_jit_held h;

	if (len < sizeof(h))
		return;
	memcpy(&h, answer, sizeof(h));
	p->missed = h.code == -ESRCH ||
		    (!h.code && p->start_ns && !coll_same_start(p->start_ns, h.start_ns));
	if (h.code || p->missed || h.path_len != len - sizeof(h))
		return;
	p->nspid = h.nspid;
	p->uid = h.uid;
	p->start_ns = h.start_ns;
	p->inode = h.inode;
	if (h.path_len)
		p->dump = strndup(answer + sizeof(h), h.path_len);
	p->tmp = hold_dir(j, take_fd(&fd));
}

static void held(void *ctx, uint64_t id, int rc, char *answer, size_t len)
{
	struct coll_jit *j = ctx;
	struct coll_jit_proc *p = find(&j->by_id, id);

	p->holding = false;
	j->answers++;
	if (!rc)
		take_held(j, p, answer, len);
	if (TAKE(p->wanted))
		fetch(j, p);
	else
		put_proc(j, p);
}

static void hold(struct coll_jit *j, struct coll_jit_proc *p)
{
	const struct coll_question q = { .kind = COLL_ASK_JIT_HOLD,
					 .lane = coll_lane_process(p->tgid),
					 .data = &p->tgid,
					 .len = sizeof(p->tgid),
					 .answered = held,
					 .ctx = j,
					 .arg = p->id };

	p->holding = true;
	if (coll_asker_ask(j->asker, &q))
		p->holding = false;
}

/* NULL if out of memory. */
static struct coll_jit_proc *need(struct coll_jit *j, const struct coll_task *task)
{
	struct coll_jit_proc *p = find(&j->by_tgid, task->tgid);

	if (p && coll_same_start(p->start_ns, task->start_ns))
		return p;
	/* nobody told of the end of that one */
	coll_jit_end(j, task->tgid);
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->id = ++j->last_id;
	p->tgid = task->tgid;
	p->start_ns = task->start_ns;
	p->uid = task->words ? task->words->uid : COLL_UID_UNKNOWN;
	if (!add_proc(j, p)) {
		free(p);
		return NULL;
	}
	hold(j, p);
	return p;
}

void coll_jit_region(struct coll_jit *j, const struct coll_task *task, const char *label,
		     uint64_t start, uint64_t end)
{
	const struct coll_jit_region r = { start, end };
	struct coll_jit_proc *p;

	if (j->off || j->session_fd < 0 || !task->tgid || task->tgid > INT32_MAX ||
	    coll_label_is_kernels(label))
		return;
	p = need(j, task);
	if (!p)
		return;
	vec_for(&p->regions, at)
		if (at->start == start && at->end == end) {
			p->due = true;
			return;
		}
	if (!vec_push(&p->regions, r))
		p->due = true;
}

/* ---- its names */

static int compare_regions(const void *pa, const void *pb)
{
	const struct coll_jit_region *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sorted and joined; behind so many that there is room for the last one has all others.
 */
static void join_regions(struct coll_jit_proc *p)
{
	size_t nr = 0;

	if (!p->regions.len)
		return;
	qsort(p->regions.data, p->regions.len, sizeof(*p->regions.data), compare_regions);
	vec_for(&p->regions, r) {
		struct coll_jit_region *last = nr ? &p->regions.data[nr - 1] : NULL;

		if (!last || (r->start > last->end && nr < COLL_JIT_MAX_REGIONS))
			p->regions.data[nr++] = *r;
		else if (r->end > last->end)
			last->end = r->end;
	}
	p->regions.len = nr;
}

/* When it can have begun at the earliest: CLOCK_MONOTONIC stands while the machine
 * sleeps. */
static uint64_t earliest_s(const struct coll_jit *j, const struct coll_jit_proc *p)
{
	enum { COARSE_S = 2 }; /* times of files are */
	uint64_t start_ns = p->start_ns ? p->start_ns : j->began_ns;
	uint64_t age_ns = clock_boot_ns() - start_ns, now_ns = clock_real_ns();

	if (age_ns > now_ns)
		return 0;
	return (now_ns - age_ns) / CLOCK_NS_PER_S > COARSE_S
		       ? (now_ns - age_ns) / CLOCK_NS_PER_S - COARSE_S
		       : 0;
}

/* Lines are for `status`; what was refused is told at once too. */
static void tell_lines(struct coll_jit *j, char *lines)
{
	char *line;

	while ((line = strsep(&lines, "\n"))) {
		if (!*line)
			continue;
		spec_stats_note(j->session_fd, line, NULL);
		if (!strstr(line, ": process "))
			log_note("%s", line);
	}
}

static void take_fetched(struct coll_jit *j, struct coll_jit_proc *p, char *answer,
			 size_t len)
{
	CLEANUP(close_fd) int fd = coll_asker_file(j->asker);
	CLEANUP(free_ptr) char *lines = NULL;
	struct coll_jit_fetched done;
	struct err err = { 0 };

	if (len < sizeof(done) || p->session != j->session)
		return;
	memcpy(&done, answer, sizeof(done));
	lines = strndup(answer + sizeof(done), len - sizeof(done));
	if (lines)
		tell_lines(j, lines);
	j->unseen += p->missed && !done.found;
	j->news |= fd >= 0;
	if (fd >= 0 && spec_jit_append(j->session_fd, p->tgid, fd, &j->taken, &err)) {
		spec_stats_note(j->session_fd, err.msg, NULL);
		log_warn(COLL_JIT_NOTE "%s", err.msg);
	}
}

static void fetched(void *ctx, uint64_t id, int rc, char *answer, size_t len)
{
	struct coll_jit *j = ctx;
	struct coll_jit_proc *p = find(&j->by_id, id);
	char line[128];

	p->fetching--;
	if (!rc) {
		take_fetched(j, p, answer, len);
	} else if (p->session == j->session) {
		snprintf(line, sizeof(line),
			 COLL_JIT_NOTE "of process %" PRIu32 ": nobody answers", p->tgid);
		tell_lines(j, line);
	}
	put_proc(j, p);
}

/* A question about these regions of it. */
static void write_question(const struct coll_jit *j, const struct coll_jit_proc *p,
			   const struct coll_jit_region *regions, size_t nr,
			   struct strbuf *out)
{
	const struct coll_jit_fetch f = { .tgid = p->tgid,
					  .nspid = p->nspid ? p->nspid : p->tgid,
					  .uid = p->uid,
					  .asking = (uint32_t)getpid(),
					  .tmp_fd = p->tmp ? p->tmp->fd : -1,
					  .nr_regions = (uint32_t)nr,
					  .not_before_s = earliest_s(j, p),
					  .inode = p->inode };

	strbuf_add(out, &f, sizeof(f));
	strbuf_add(out, regions, nr * sizeof(*regions));
	if (p->dump)
		strbuf_puts(out, p->dump);
}

static void fetch(struct coll_jit *j, struct coll_jit_proc *p)
{
	CLEANUP(strbuf_fini) struct strbuf data = { 0 };
	struct coll_question q = { .kind = COLL_ASK_JIT_FETCH,
				   .lane = coll_lane_process(p->tgid),
				   .answered = fetched,
				   .ctx = j,
				   .arg = p->id };

	join_regions(p);
	write_question(j, p, p->regions.data, p->regions.len, &data);
	p->due = false;
	p->session = j->session;
	q.data = data.data;
	q.len = data.len;
	p->fetching++;
	if (strbuf_error(&data) || coll_asker_ask(j->asker, &q))
		fetched(j, p->id, -ENOMEM, NULL, 0);
}

/* Its names are asked for, as soon as it is known where its /tmp is or was. */
static void want(struct coll_jit *j, struct coll_jit_proc *p)
{
	if (p->due && p->holding)
		p->wanted = true;
	else if (p->due)
		fetch(j, p);
	else
		put_proc(j, p);
}

/* ---- how its code is unwound */

enum coll_jit_knows coll_jit_unwinding(struct coll_jit *j, uint32_t tgid,
				       const struct coll_jit_region *region,
				       struct strbuf *question, uint64_t *asked)
{
	struct coll_jit_proc *p = find(&j->by_tgid, tgid);

	if (!p || j->off || clock_mono_ns() < p->plain_until_ns)
		return COLL_JIT_KNOWS_NOTHING;
	if (p->holding)
		return COLL_JIT_KNOWS_LATER;
	write_question(j, p, region, 1, question);
	p->asking++;
	*asked = p->id;
	return COLL_JIT_KNOWS;
}

void coll_jit_knew(struct coll_jit *j, uint64_t asked, enum coll_jit_told told)
{
	struct coll_jit_proc *p = find(&j->by_id, asked);

	p->asking--;
	if (told == COLL_JIT_TOLD)
		p->plain_until_ns = p->plain_ms = 0;
	if (told == COLL_JIT_TOLD_NOTHING) {
		p->plain_ms = !p->plain_ms                      ? PLAIN_MS
			      : p->plain_ms * 2 < PLAIN_MOST_MS ? p->plain_ms * 2
								: PLAIN_MOST_MS;
		p->plain_until_ns = clock_mono_ns() + p->plain_ms * CLOCK_NS_PER_MS;
	}
	put_proc(j, p);
}

/* ---- ends: of processes, and of sessions */

void coll_jit_end(struct coll_jit *j, uint32_t tgid)
{
	struct coll_jit_proc *p = j->by_tgid.used ? find(&j->by_tgid, tgid) : NULL;

	if (!p)
		return;
	map_u64_del(&j->by_tgid, tgid);
	p->ended = true;
	want(j, p);
}

/* Answers that are made at once change the table, so the processes are listed first. */
void coll_jit_fetch(struct coll_jit *j)
{
	VEC(struct coll_jit_proc *) all = { 0 };
	uint64_t id, value;
	size_t pos = 0;

	while (map_u64_next(&j->by_id, &pos, &id, &value))
		if (vec_push(&all, (struct coll_jit_proc *)(uintptr_t)value))
			break;
	vec_for(&all, p)
		want(j, *p);
	vec_fini(&all);
}

static void tell_count(struct coll_jit *j, uint64_t nr, const char *what)
{
	char line[192];

	if (!nr)
		return;
	snprintf(line, sizeof(line), COLL_JIT_NOTE "%" PRIu64 " processes %s", nr, what);
	spec_stats_note(j->session_fd, line, NULL);
}

void coll_jit_tell(struct coll_jit *j)
{
	tell_count(j, TAKE(j->unseen),
		   "had ended before their /tmp was looked at, and ours has no names of "
		   "theirs");
}

/* What is still asked for comes too late for the session. */
void coll_jit_move(struct coll_jit *j, int session_fd)
{
	uint64_t id, value, late = 0;
	size_t pos = 0;

	coll_jit_tell(j);
	while (map_u64_next(&j->by_id, &pos, &id, &value)) {
		struct coll_jit_proc *p = (struct coll_jit_proc *)(uintptr_t)value;

		late += p->wanted || (p->fetching && p->session == j->session);
		p->due = p->wanted = false;
		p->regions.len = 0;
	}
	tell_count(j, late, "had names that could not be read in time");
	j->session_fd = session_fd;
	j->session++;
	j->taken = SPEC_JIT_NOT_COUNTED;
}
