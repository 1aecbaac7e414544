/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "libspec/session/manifest.h"
#include "libspec/session/session.h"
#include "libspec/stack/stack_format.h"
#include "opfs/session/catalog_build.h"
#include "opfs/session/catalog_read.h"
#include "opfs/session/catalog_stacks.h"

enum { MAX_TABLE = 4 << 20 };

/* Of the tables beside the sample files, which are read whole. */
static bool has_large_tables(const struct catalog_dir *d)
{
	static const char *const tables[] = { "images", "regions", "tasks",
					      SPEC_STACK_DIR "/images" };
	struct stat st;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!fstatat(d->fd, tables[i], &st, AT_SYMLINK_NOFOLLOW) &&
		    st.st_size > MAX_TABLE)
			return true;
	return false;
}

/* ---- files */

static int read_file(struct catalog_build *b, const struct spec_session_file *file)
{
	const char *path = file->path;
	struct spec_sample_reader r = { .fd = -1 };
	struct err why = { 0 };
	uint64_t total = 0;
	off_t copy_off = b->copy_end;
	int rc = spec_sample_open_at(file->dirfd, file->leaf, path, b->abi, &r, &why);

	if (rc == -ENOENT || rc == -ENOMEM) /* ENOENT: removed meanwhile */
		return rc == -ENOENT ? 0 : catalog_build_no_memory(b);
	if (!rc && r.foreign)
		b->c->dirs[b->dir].machine = spec_abi_describe(&r.abi);
	if (!rc)
		rc = catalog_read_nodes(b, &r, UINT64_MAX, &total, &why);
	if (rc == -EINTR || rc == -EFBIG) {
		spec_sample_fini(&r);
		return err_set(b->err, rc, "%s", why.msg);
	}
	rc = rc ? catalog_build_bad(b, path, why.msg)
		: catalog_build_file(b, file->name, path, &r, total, copy_off);
	spec_sample_fini(&r);
	return rc;
}

static int visit(void *ctx, struct spec_session_file *file)
{
	struct catalog_build *b = ctx;
	int rc = catalog_read_check(b, b->err);

	if (rc)
		return rc;
	if (file->bad)
		return catalog_build_bad(b, file->path, file->bad->msg);
	/* arcs were made from the stacks, for OProfile */
	if (file->name->callee.name && b->c->dirs[b->dir].frames_fd >= 0)
		return 0;
	return read_file(b, file);
}

/* ---- tasks: who the processes were whose samples were kept apart */

static uint64_t task_key(uint32_t tgid, uint32_t tid)
{
	return (uint64_t)tgid << 32 | tid;
}

/* The last of several rows of a task counts: it is the program that was executed last. */
static int index_tasks(const struct spec_tasks *tasks, struct map_u64 *by_id)
{
	for (size_t i = 0; i < tasks->nr; i++) {
		const struct spec_task *t = &tasks->rows[i];

		if (map_u64_set(by_id, task_key(t->tgid, t->tid), i))
			return -ENOMEM;
	}
	return 0;
}

/* The row of its thread if there is one, else of its process. */
static void find_task(const struct catalog_dir *d, const struct map_u64 *by_id,
		      struct catalog_file *f)
{
	uint32_t tgid = (uint32_t)f->name.tgid, tid = (uint32_t)f->name.tid;
	uint64_t row;

	if (f->name.tgid >= 0 && (map_u64_get(by_id, task_key(tgid, tid), &row) ||
				  map_u64_get(by_id, task_key(tgid, tgid), &row)))
		f->task = &d->tasks.rows[row];
}

/* For the files from the indices @flat and @cg on. */
static int read_tasks(struct catalog_build *b, struct catalog_dir *d, size_t flat,
		      size_t cg)
{
	struct map_u64 by_id = { 0 };
	struct err why = { 0 };
	bool separated = false;
	int rc;

	for (size_t i = flat; i < b->flat.len && !separated; i++)
		separated = b->flat.data[i].name.tgid >= 0;
	if (!separated) {
		spec_tasks_stat(d->fd, &d->tasks); /* reports may read it */
		return 0;
	}
	rc = spec_tasks_read(d->fd, &d->tasks, &why);
	if (rc)
		return rc == -ENOMEM ? catalog_build_no_memory(b)
				     : catalog_build_bad(b, "tasks", why.msg);
	rc = index_tasks(&d->tasks, &by_id);
	for (size_t i = flat; i < b->flat.len && !rc; i++)
		find_task(d, &by_id, &b->flat.data[i]);
	for (size_t i = cg; i < b->cg.len && !rc; i++)
		find_task(d, &by_id, &b->cg.data[i]);
	map_u64_fini(&by_id);
	return rc ? catalog_build_no_memory(b) : 0;
}

/* ---- sessions */

/* The tables beside the sample files.  A damaged one is reported, not fatal. */
static int read_tables(struct catalog_build *b, struct catalog_dir *d)
{
	struct err why = { 0 }, why_live = { 0 };
	/* first: what changes while all this is read changes it, too */
	int live = spec_live_read(d->fd, &d->live, &why_live);
	int rc = spec_images_read(d->fd, &d->rows, &why);

	d->has_live = !live;
	if (rc)
		rc = catalog_build_bad(b, "images", why.msg);
	if (!rc && spec_regions_read(d->fd, &d->regions, &why))
		rc = catalog_build_bad(b, "regions", why.msg);
	if (!rc && spec_stats_read_settled(d->fd, !catalog_is_live(d), &d->stats, &why))
		rc = catalog_build_bad(b, "stats", why.msg);
	if (!rc && !live) {
		struct spec_session_span when = { 0 };

		if (!spec_session_span(d->fd, d->session, 0, &when, NULL))
			d->when = when.span;
	} else if (!rc && live != -ENOENT) {
		rc = catalog_build_bad(b, "stats/live", why_live.msg);
	}
	if (!rc && spec_stats_each_note(d->fd, catalog_build_line, b, &why) == -ENOMEM)
		return catalog_build_no_memory(b);
	rc = rc ? rc : catalog_build_lines(b, &d->notes, &d->nr_notes);
	if (!rc &&
	    spec_stats_each_throttled(d->fd, catalog_build_line, b, &why) == -ENOMEM)
		return catalog_build_no_memory(b);
	return rc ? rc : catalog_build_lines(b, &d->throttled, &d->nr_throttled);
}

int catalog_no_session(const char *name, int rc, struct err *err)
{
	static const struct {
		int rc;
		const char *why;
	} known[] = {
		{ -ENOENT, "there is none of that name (it may have been removed or "
			   "renamed)" },
		{ -EACCES, "its directory does not allow you to read it (its owner can: "
			   "chmod o+rx)" },
		{ -ELOOP, "is a link, and where several users read only those of root "
			  "and of who mounted are followed" },
		{ -EXDEV,
		  "another file system is mounted there, which is not entered "
		  "where several users read (root can make a link to it instead)" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].rc == rc)
			return err_set(err, rc, "session %.100s: %s", name, known[i].why);
	return err_errno(err, rc, "session %.100s", name);
}

/*
 * A live collector writes its statistics once a second, and samples all the time: "taken"
 * is computed from what the files hold and what was lost, so that the numbers add up.
 */
static void set_taken(const struct catalog_build *b, struct catalog_dir *d)
{
	uint64_t stored = 0;

	vec_for(&b->flat, f)
		if (f->dir == b->dir)
			stored += f->total;
	d->stats.value[SPEC_STAT_STORED] = stored;
	d->stats.value[SPEC_STAT_TAKEN] =
		stored + spec_stats_lost(&d->stats) + spec_stats_ignored(&d->stats);
}

/* Of another user: may it be read now, and how far? */
static int bound_session(struct catalog_build *b, const struct catalog_dir *d)
{
	struct given_up *g = b->from->given_up;
	bool his = b->viewer && b->viewer->cred.uid == d->owner;
	uint64_t left = his ? CATALOG_READ_MAX_NS : given_up_left(g, d->owner);

	if (given_up_has(g, d->dev, d->ino))
		return catalog_read_too_large(b, b->err);
	if (!left)
		return err_set(b->err, -EFBIG,
			       "session %.100s: not read now, those of its owner have "
			       "kept others waiting for too long: try again in a minute",
			       d->session);
	catalog_read_bound(b, left);
	return has_large_tables(d) ? catalog_read_too_large(b, b->err) : 0;
}

/* Opens the session @d; d->fd stays -1 if it is "current" and not there yet. */
static int open_session(struct catalog_build *b, int samples_fd, struct catalog_dir *d)
{
	const uid_t *trusted = b->from->trusted;
	struct stat st;
	int fd = samples_fd < 0 ? -ENOENT
				: spec_session_open(samples_fd, d->session, trusted);

	if (fd < 0)
		return fd == -ENOENT && !strcmp(d->session, "current")
			       ? 0
			       : catalog_no_session(d->session, fd, b->err);
	d->fd = fd;
	if (fstat(d->fd, &st))
		return catalog_no_session(d->session, -errno, b->err);
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	d->mtime_ns = clock_ns_of(&st.st_mtim);
	d->owner = st.st_uid;
	return spec_session_trusts(trusted, st.st_uid) ? 0 : bound_session(b, d);
}

static int read_opened(struct catalog_build *b, struct catalog_dir *d)
{
	size_t flat = b->flat.len, cg = b->cg.len;
	int rc;

	d->sealed = strcmp(d->session, "current") != 0 &&
		    !faccessat(d->fd, SPEC_MANIFEST, F_OK, AT_SYMLINK_NOFOLLOW);
	d->escaped = spec_session_escaped(d->fd);
	d->abi = b->abi;
	d->machine = d->abi ? spec_abi_describe(d->abi) : NULL;
	rc = read_tables(b, d);
	d->sealed = d->sealed && d->live.closed;
	b->copying = catalog_is_live(d);
	b->c->live |= b->copying;
	rc = rc ? rc : catalog_stacks_open(b, d);
	rc = rc ? rc : spec_session_walk(d->fd, d->escaped, visit, b, b->err);
	rc = rc ? rc : catalog_stacks_read(b, d, flat);
	rc = rc ? rc : read_tasks(b, d, flat, cg);
	if (rc)
		return rc;
	if (d->has_live && b->copying)
		set_taken(b, d);
	if (d->has_live && d->live.drained_ns > b->c->drained_ns)
		b->c->drained_ns = d->live.drained_ns;
	else if (!d->has_live && d->mtime_ns > b->c->drained_ns)
		b->c->drained_ns = d->mtime_ns;
	return 0;
}

/* Takes back what was read of a session that is too large.  What it called images stays,
 * with its table of them: without files nobody sees them. */
static int leave_out(struct catalog_build *b, struct catalog_dir *d, size_t flat,
		     size_t cg)
{
	struct catalog_dir out = { .session = d->session,
				   .fd = -1,
				   .frames_fd = -1,
				   .dev = d->dev,
				   .ino = d->ino,
				   .owner = d->owner,
				   .rows = TAKE(d->rows),
				   .given_up = true };

	b->flat.len = flat;
	b->cg.len = cg;
	catalog_dir_fini(d);
	*d = out;
	return catalog_build_push_bad(b, d->session, b->err->msg);
}

/* @alone: it is not summed with others */
static int read_session(struct catalog_build *b, int samples_fd, const char *name,
			bool alone)
{
	struct catalog_dir *d = &b->c->dirs[b->dir];
	size_t flat = b->flat.len, cg = b->cg.len;
	int rc;

	b->max_ns = 0;
	d->fd = d->frames_fd = -1;
	d->session = arena_strdup(&b->c->arena, name);
	b->c->nr_dirs++;
	if (!d->session)
		return catalog_build_no_memory(b);
	rc = open_session(b, samples_fd, d);
	if (!rc && d->fd >= 0)
		rc = read_opened(b, d);
	if (b->max_ns)
		given_up_spend(b->from->given_up, d->owner, catalog_read_cost_ns(b));
	if (rc != -EFBIG)
		return rc;
	/* not for what others of the same owner took */
	if (b->max_ns == CATALOG_READ_MAX_NS)
		given_up_add(b->from->given_up, d->dev, d->ino);
	return alone ? rc : leave_out(b, d, flat, cg);
}

/* ---- sessions that were read before */

static int add_files(struct catalog_build *b, const struct catalog *one)
{
	int rc = 0;

	for (size_t i = 0; i < one->nr_files && !rc; i++) {
		CLEANUP(spec_name_fini) struct spec_name name = { 0 };
		const struct catalog_file *f = &one->files[i];
		struct spec_sample_reader r = { .fd = -1,
						.nr_nodes = f->nr_nodes,
						.header = f->header };

		/* by the names of its session: a sum has its own names for images */
		rc = spec_name_parse(f->path, one->dirs[0].escaped, &name, b->err);
		rc = rc ? rc : catalog_build_file(b, &name, f->path, &r, f->total, 0);
		if (!rc && i < one->nr_flat) {
			b->flat.data[b->flat.len - 1].task = f->task;
			b->flat.data[b->flat.len - 1].stacks = f->stacks;
		} else if (!rc)
			b->cg.data[b->cg.len - 1].task = f->task;
	}
	return rc;
}

static int add_part(struct catalog_build *b, struct catalog *one)
{
	struct catalog_dir *d = &b->c->dirs[b->c->nr_dirs++];
	int rc;

	*d = one->dirs[0];
	d->part = catalog_get(one);
	if (one->drained_ns > b->c->drained_ns)
		b->c->drained_ns = one->drained_ns;
	rc = add_files(b, one);
	rc = rc ? rc : catalog_stacks_images(b, d);
	for (size_t i = 0; i < one->nr_bad && !rc; i++)
		if (strcmp(one->bad[i].path, SPEC_ABI) != 0 && /* it is the same */
		    vec_push(&b->bad, one->bad[i]))
			rc = catalog_build_no_memory(b);
	return rc;
}

/* ---- the whole */

/* Will no session change any more?  "current" may, even one that is closed. */
static bool is_saved(const struct catalog *c)
{
	for (size_t i = 0; i < c->nr_dirs; i++)
		if (!strcmp(c->dirs[i].session, "current") ||
		    catalog_is_live(&c->dirs[i]))
			return false;
	return true;
}

/* What wrote the sample files.  With a damaged one, they are what they look like. */
static int read_abi(struct catalog_build *b, int session_dir_fd)
{
	struct spec_abi abi;
	struct err why = { 0 };
	int rc = spec_abi_read(session_dir_fd, &abi, &why);

	if (rc == -ENOMEM)
		return catalog_build_no_memory(b);
	if (rc)
		return rc == -ENOENT ? 0 : catalog_build_push_bad(b, SPEC_ABI, why.msg);
	if (spec_abi_is_native(&abi))
		return 0;
	b->abi = (void *)arena_memdup(&b->c->arena, &abi, sizeof(abi));
	return b->abi ? 0 : catalog_build_no_memory(b);
}

int catalog_load(const struct catalog_source *from, char *const *names, size_t nr,
		 struct catalog *const *parts, const struct viewer *v,
		 struct catalog **out, struct err *err)
{
	CLEANUP(catalog_build_fini)
	struct catalog_build b = { .from = from, .viewer = v, .err = err };
	CLEANUP(close_fd) int samples = -1;
	int rc = catalog_build_begin(&b, nr);

	if (rc)
		return rc;
	samples = spec_session_samples(from->session_dir_fd);
	if (samples == -EACCES)
		return err_set(err, -EACCES,
			       "samples, in the session directory: does not "
			       "allow you to read it (its owner can: chmod o+rx)");
	if (samples < 0 && samples != -ENOENT)
		return err_errno(err, samples, "samples, in the session directory");
	rc = read_abi(&b, from->session_dir_fd);
	for (b.dir = 0; b.dir < nr && !rc; b.dir++) {
		if (parts && parts[b.dir])
			rc = add_part(&b, parts[b.dir]);
		else
			rc = read_session(&b, samples, names[b.dir], nr == 1);
	}
	rc = rc ? rc : catalog_build_finish(&b);
	if (rc)
		return rc;
	b.c->saved = is_saved(b.c);
	if (!b.c->drained_ns)
		b.c->drained_ns = clock_real_ns();
	*out = TAKE(b.c);
	return 0;
}

static int load_file(struct catalog_build *b, const char *path)
{
	CLEANUP(spec_name_fini) struct spec_name name = { 0 };
	struct catalog_dir *d = &b->c->dirs[0];
	int rc = spec_name_parse(path, false, &name, b->err);

	d->fd = AT_FDCWD;
	d->frames_fd = -1;
	d->session = arena_strdup(&b->c->arena, path);
	b->c->nr_dirs = 1;
	if (!d->session)
		return catalog_build_no_memory(b);
	rc = rc ? rc
		: read_file(b, &(struct spec_session_file){ .path = path,
							    .dirfd = AT_FDCWD,
							    .leaf = path,
							    .name = &name });
	if (!rc && b->bad.len)
		return err_set(b->err, -EBADMSG, "%.300s", b->bad.data[0].reason);
	if (!rc && !b->flat.len)
		return err_set(b->err, -ENOENT, "%.300s: no flat sample file there",
			       path);
	return rc ? rc : catalog_build_finish(b);
}

int catalog_load_file(const char *path, struct catalog **out, struct err *err)
{
	CLEANUP(catalog_build_fini) struct catalog_build b = { .err = err };
	int rc = catalog_build_begin(&b, 1);

	rc = rc ? rc : load_file(&b, path);
	if (rc)
		return rc;
	b.c->saved = true;
	b.c->drained_ns = clock_real_ns();
	*out = TAKE(b.c);
	return 0;
}
