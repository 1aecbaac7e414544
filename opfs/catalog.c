/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/vec.h"
#include "libspec/manifest.h"
#include "libspec/session.h"
#include "opfs/catalog_build.h"
#include "opfs/catalog_parts.h"

enum { COPY_NODES = 4096 };

static void build_fini(struct catalog_build *b)
{
	map_fini(&b->images);
	map_fini(&b->binaries);
	vec_fini(&b->image_list);
	vec_fini(&b->flat);
	vec_fini(&b->cg);
	vec_fini(&b->bad);
	vec_fini(&b->lines);
	strbuf_fini(&b->text);
	catalog_put(b->c);
}

int catalog_no_memory(struct catalog_build *b)
{
	return err_set(b->err, -ENOMEM, "out of memory while reading a session");
}

/* ---- files */

int catalog_add_bad(struct catalog_build *b, const char *path, const char *reason)
{
	struct catalog_bad bad = { 0 };

	strbuf_reset(&b->text);
	strbuf_printf(&b->text, "%s/%s", b->c->dirs[b->dir].session, path);
	bad.path = arena_strdup(&b->c->arena, strbuf_str(&b->text));
	bad.reason = arena_strdup(&b->c->arena, reason);
	if (!bad.path || !bad.reason || vec_push(&b->bad, bad))
		return catalog_no_memory(b);
	return 0;
}

int catalog_add_file(struct catalog_build *b, const struct spec_name *n, const char *path,
		     const struct spec_sample_reader *r, uint64_t total, off_t copy_off)
{
	struct catalog_file f = { .name = *n,
				  .dir = b->dir,
				  .callee = CATALOG_NO_IMAGE,
				  .total = total,
				  .copy_off = copy_off,
				  .nr_nodes = r->nr_nodes,
				  .header = r->header };
	bool flat = n->callee.kind == SPEC_IMAGE_NONE;
	int rc;

	rc = catalog_add_image(b, &n->app, &f.app);
	rc = rc ? rc : catalog_add_image(b, &n->image, &f.image);
	if (!rc && !flat)
		rc = catalog_add_image(b, &n->callee, &f.callee);
	if (rc)
		return rc;
	b->image_list.data[f.image].kernel |= r->header.is_kernel != 0;
	f.name.app = b->image_list.data[f.app].name;
	f.name.image = b->image_list.data[f.image].name;
	f.name.callee = flat ? (struct spec_image){ 0 } : b->image_list.data[f.callee].name;
	f.name.event = arena_strdup(&b->c->arena, n->event);
	f.path = arena_strdup(&b->c->arena, path);
	if (!f.name.event || !f.path ||
	    (flat ? vec_push(&b->flat, f) : vec_push(&b->cg, f)) ||
	    map_set(&b->c->by_event, f.name.event, strlen(f.name.event), 1))
		return catalog_no_memory(b);
	return 0;
}

/* Writes nodes to the copy; a hole stays one, however long the file claims to be. */
static int write_nodes(int fd, const struct spec_sample_node *nodes, size_t nr)
{
	static const struct spec_sample_node zeros[COPY_NODES];
	size_t bytes = nr * sizeof(*nodes);

	if (memcmp(nodes, zeros, bytes) != 0)
		return file_write_all(fd, nodes, bytes);
	return lseek(fd, (off_t)bytes, SEEK_CUR) < 0 ? -errno : 0;
}

/*
 * Sums a file's nodes and, of a live one, copies them: one look at each, so that whatever
 * is made of this generation later agrees with its total.
 */
static int take_nodes(struct catalog_build *b, const struct spec_sample_reader *r,
		      uint64_t *total, struct err *err)
{
	struct spec_sample_node nodes[COPY_NODES];
	int rc = 0;

	for (uint32_t at = 0; at < r->nr_nodes && !rc;) {
		ssize_t n = spec_sample_read(r, at, nodes, COPY_NODES, err);

		if (n < 0)
			return (int)n;
		if (viewer_gone(b->viewer))
			return err_set(err, -EINTR, "interrupted");
		if (b->copying)
			rc = write_nodes(b->c->copy_fd, nodes, (size_t)n);
		for (ssize_t i = 0; i < n; i++)
			*total += nodes[i].value;
		at += (uint32_t)n;
	}
	return rc ? err_errno(err, rc, "copying samples to a temporary file") : 0;
}

static int sum_file(struct catalog_build *b, const struct spec_sample_reader *r,
		    uint64_t *total, struct err *err)
{
	off_t bytes = (off_t)r->nr_nodes * (off_t)sizeof(struct spec_sample_node);
	int fd, rc;

	if (!b->copying)
		return take_nodes(b, r, total, err);
	if (b->c->copy_fd < 0)
		b->c->copy_fd = file_unnamed();
	fd = b->c->copy_fd;
	if (fd < 0)
		return err_errno(err, fd, "a temporary file for live samples");
	rc = take_nodes(b, r, total, err);
	if (!rc)
		b->copy_end += bytes;
	/* what a failed copy left must not show through holes */
	else if (ftruncate(fd, b->copy_end) || lseek(fd, b->copy_end, SEEK_SET) < 0)
		return err_errno(err, -errno, "a temporary file for live samples");
	return rc;
}

static int read_file(struct catalog_build *b, int dirfd, const char *path,
		     const struct spec_name *n)
{
	struct spec_sample_reader r = { .fd = -1 };
	struct err why = { 0 };
	uint64_t total = 0;
	off_t copy_off = b->copy_end;
	int rc = spec_sample_open(dirfd, path, &r, &why);

	if (rc == -ENOENT || rc == -ENOMEM) /* ENOENT: removed while we walk */
		return rc == -ENOENT ? 0 : catalog_no_memory(b);
	if (!rc)
		rc = sum_file(b, &r, &total, &why);
	if (rc == -EINTR) {
		spec_sample_fini(&r);
		return err_set(b->err, rc, "%s", why.msg);
	}
	rc = rc ? catalog_add_bad(b, path, why.msg)
		: catalog_add_file(b, n, path, &r, total, copy_off);
	spec_sample_fini(&r);
	return rc;
}

static int visit(void *ctx, struct spec_session_file *file)
{
	struct catalog_build *b = ctx;

	if (viewer_gone(b->viewer))
		return err_set(b->err, -EINTR, "interrupted");
	if (file->bad)
		return catalog_add_bad(b, file->path, file->bad->msg);
	return read_file(b, b->c->dirs[b->dir].fd, file->path, file->name);
}

/* ---- sessions */

static int keep_line(void *ctx, const char *line)
{
	struct catalog_build *b = ctx;
	char *copy = arena_strdup(&b->c->arena, line);

	return copy && !vec_push(&b->lines, copy) ? 0 : catalog_no_memory(b);
}

/* Moves b->lines to an array of the catalog. */
static int take_lines(struct catalog_build *b, char ***out, size_t *nr)
{
	*out = arena_calloc(&b->c->arena, b->lines.len + 1, sizeof(**out));
	for (*nr = 0; *out && *nr < b->lines.len; ++*nr)
		(*out)[*nr] = b->lines.data[*nr];
	b->lines.len = 0;
	return *out ? 0 : catalog_no_memory(b);
}

/* What stands beside the sample files.  A damaged table is told, not fatal. */
static int read_tables(struct catalog_build *b, struct catalog_dir *d)
{
	struct err why = { 0 };
	int rc = spec_images_read(d->fd, &d->rows, &why);

	if (rc && rc != -ENOENT)
		rc = catalog_add_bad(b, "images", why.msg);
	else
		rc = 0;
	if (!rc && spec_stats_read(d->fd, &d->stats, &why))
		rc = catalog_add_bad(b, "stats", why.msg);
	if (!rc) {
		int live = spec_live_read(d->fd, &d->live, &why);

		struct spec_session_span when = { 0 };

		d->has_live = !live;
		if (!live && !spec_session_span(d->fd, d->session, 0, &when, NULL))
			d->when = when.span;
		if (live && live != -ENOENT)
			rc = catalog_add_bad(b, "stats/live", why.msg);
	}
	if (!rc && spec_stats_each_note(d->fd, keep_line, b, &why) == -ENOMEM)
		return catalog_no_memory(b);
	rc = rc ? rc : take_lines(b, &d->notes, &d->nr_notes);
	if (!rc && spec_stats_each_throttled(d->fd, keep_line, b, &why) == -ENOMEM)
		return catalog_no_memory(b);
	return rc ? rc : take_lines(b, &d->throttled, &d->nr_throttled);
}

static int gone(struct catalog_build *b, const char *name, int rc)
{
	if (rc == -ENOENT)
		return err_set(b->err, rc, "session %.100s: there is none of that name (it may "
			       "have been removed or renamed)", name);
	if (rc == -EACCES)
		return err_set(b->err, rc, "session %.100s: its directory does not allow you "
			       "to read it (its owner can: chmod o+rx)", name);
	return err_errno(b->err, rc, "session %.100s", name);
}

bool catalog_is_live(const struct catalog_dir *d)
{
	return d->has_live ? !d->live.closed : !strcmp(d->session, "current");
}

/*
 * A live collector writes its figures once a second, and counts all the time: what is
 * shown as taken is what the files were seen to hold and what was lost.
 */
static void balance(const struct catalog_build *b, struct catalog_dir *d)
{
	uint64_t stored = 0;

	vec_for(&b->flat, f)
		if (f->dir == b->dir)
			stored += f->total;
	d->stats.value[SPEC_STAT_STORED] = stored;
	d->stats.value[SPEC_STAT_TAKEN] =
		stored + spec_stats_lost(&d->stats) + spec_stats_ignored(&d->stats);
}

static int read_session(struct catalog_build *b, int samples_fd, const char *name)
{
	struct catalog_dir *d = &b->c->dirs[b->dir];
	size_t flat = b->flat.len, cg = b->cg.len;
	struct stat st;
	int rc;

	d->fd = -1;
	d->session = arena_strdup(&b->c->arena, name);
	b->c->nr_dirs++;
	if (!d->session)
		return catalog_no_memory(b);
	if (samples_fd >= 0)
		d->fd = openat(samples_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0 && (samples_fd < 0 || errno == ENOENT) && !strcmp(name, "current"))
		return 0;
	if (d->fd < 0)
		return gone(b, name, samples_fd < 0 ? -ENOENT : -errno);
	d->sealed = strcmp(name, "current") != 0 &&
		    !faccessat(d->fd, SPEC_MANIFEST, F_OK, AT_SYMLINK_NOFOLLOW);
	if (fstat(d->fd, &st))
		return gone(b, name, -errno);
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	d->mtime_ns = clock_ns_of(&st.st_mtim);
	d->escaped = spec_session_escaped(d->fd);
	rc = read_tables(b, d);
	d->sealed = d->sealed && d->live.closed;
	b->copying = catalog_is_live(d);
	b->c->live |= b->copying;
	rc = rc ? rc : spec_session_walk(d->fd, d->escaped, visit, b, b->err);
	rc = rc ? rc : catalog_read_tasks(b, d, flat, cg);
	if (rc)
		return rc;
	if (d->has_live && b->copying)
		balance(b, d);
	if (d->has_live && d->live.drained_ns > b->c->drained_ns)
		b->c->drained_ns = d->live.drained_ns;
	else if (!d->has_live && d->mtime_ns > b->c->drained_ns)
		b->c->drained_ns = d->mtime_ns;
	return 0;
}

/* ---- the whole */

/* Moves what was gathered into the catalog: flat files first. */
static int finish(struct catalog_build *b)
{
	struct catalog *c = b->c;

	/* the copy may end in a hole */
	if (c->copy_fd >= 0 && ftruncate(c->copy_fd, b->copy_end))
		return err_errno(b->err, -errno, "a temporary file for live samples");
	c->nr_images = b->image_list.len;
	c->nr_flat = b->flat.len;
	c->nr_files = b->flat.len + b->cg.len;
	c->nr_bad = b->bad.len;
	c->images = arena_calloc(&c->arena, c->nr_images + 1, sizeof(*c->images));
	c->names = arena_calloc(&c->arena, c->nr_images + 1, sizeof(*c->names));
	c->files = arena_calloc(&c->arena, c->nr_files + 1, sizeof(*c->files));
	c->bad = arena_calloc(&c->arena, c->nr_bad + 1, sizeof(*c->bad));
	if (!c->images || !c->names || !c->files || !c->bad)
		return catalog_no_memory(b);
	for (size_t i = 0; i < c->nr_images; i++) {
		struct catalog_image *img = &c->images[i];

		*img = b->image_list.data[i];
		c->names[i] = (struct spec_match_image){ .shown = img->shown,
							 .base = img->base,
							 .label = img->label,
							 .kernel = img->kernel };
		if (map_set(&c->by_image, img->shown, strlen(img->shown), i) ||
		    map_set(&c->by_image, img->base, strlen(img->base), i) ||
		    (img->label && map_set(&c->by_image, img->label, strlen(img->label), i)))
			return catalog_no_memory(b);
	}
	for (size_t i = 0; i < c->nr_flat; i++) {
		c->files[i] = b->flat.data[i];
		c->total += c->files[i].total;
	}
	for (size_t i = 0; i < b->cg.len; i++)
		c->files[c->nr_flat + i] = b->cg.data[i];
	for (size_t i = 0; i < c->nr_bad; i++)
		c->bad[i] = b->bad.data[i];
	return 0;
}

static int begin(struct catalog_build *b, size_t nr_dirs)
{
	b->c = calloc(1, sizeof(*b->c));
	if (!b->c)
		return catalog_no_memory(b);
	b->c->refs = 1;
	b->c->copy_fd = -1;
	b->c->dirs = arena_calloc(&b->c->arena, nr_dirs + 1, sizeof(*b->c->dirs));
	return b->c->dirs ? 0 : catalog_no_memory(b);
}

/* Nothing in it will change any more: not the one that is written to by name. */
static bool is_saved(const struct catalog *c)
{
	for (size_t i = 0; i < c->nr_dirs; i++)
		if (!strcmp(c->dirs[i].session, "current") || catalog_is_live(&c->dirs[i]))
			return false;
	return true;
}

int catalog_load(int session_dir_fd, char *const *names, size_t nr,
		 struct catalog_parts *parts, const struct viewer *v,
		 struct catalog **out, struct err *err)
{
	CLEANUP(build_fini) struct catalog_build b = { .viewer = v, .err = err };
	CLEANUP(close_fd) int samples = -1;
	int rc = begin(&b, nr);

	if (rc)
		return rc;
	samples = openat(session_dir_fd, "samples", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (samples < 0 && errno == EACCES)
		return err_set(err, -EACCES, "samples, in the session directory: does not "
			       "allow you to read it (its owner can: chmod o+rx)");
	if (samples < 0 && errno != ENOENT)
		return err_errno(err, -errno, "samples, in the session directory");
	for (b.dir = 0; b.dir < nr && !rc; b.dir++) {
		rc = nr > 1 && parts ? catalog_parts_read(parts, &b, session_dir_fd,
							  samples, names[b.dir])
				     : -EAGAIN;
		if (rc == -EAGAIN)
			rc = read_session(&b, samples, names[b.dir]);
	}
	if (parts)
		catalog_parts_trim(parts);
	rc = rc ? rc : finish(&b);
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
	d->session = arena_strdup(&b->c->arena, path);
	b->c->nr_dirs = 1;
	if (!d->session)
		return catalog_no_memory(b);
	rc = rc ? rc : read_file(b, AT_FDCWD, path, &name);
	if (!rc && b->bad.len)
		return err_set(b->err, -EBADMSG, "%.300s", b->bad.data[0].reason);
	if (!rc && !b->flat.len)
		return err_set(b->err, -ENOENT, "%.300s: no flat sample file there", path);
	return rc ? rc : finish(b);
}

int catalog_load_file(const char *path, struct catalog **out, struct err *err)
{
	CLEANUP(build_fini) struct catalog_build b = { .err = err };
	int rc = begin(&b, 1);

	rc = rc ? rc : load_file(&b, path);
	if (rc)
		return rc;
	b.c->saved = true;
	b.c->drained_ns = clock_real_ns();
	*out = TAKE(b.c);
	return 0;
}

int catalog_samples(const struct catalog *c, const struct catalog_file *f,
		    struct spec_sample_reader *out, struct err *err)
{
	const struct catalog_dir *d = &c->dirs[f->dir];
	int fd;

	if (c->copy_fd < 0 || !catalog_is_live(d))
		return spec_sample_open(d->fd, f->path, out, err);
	fd = fcntl(c->copy_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0)
		return err_errno(err, -errno, "%s", f->path);
	*out = (struct spec_sample_reader){ .fd = fd,
					    .nr_nodes = f->nr_nodes,
					    .nodes_off = f->copy_off,
					    .header = f->header };
	return 0;
}

struct catalog *catalog_get(struct catalog *c)
{
	if (c)
		__atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
	return c;
}

/* What a catalog of its own holds. */
static void close_all(struct catalog *c)
{
	for (size_t i = 0; i < c->nr_dirs; i++) {
		if (c->dirs[i].part) {
			catalog_put(c->dirs[i].part);
			continue;
		}
		if (c->dirs[i].fd >= 0)
			close(c->dirs[i].fd);
		spec_images_fini(&c->dirs[i].rows);
		spec_tasks_fini(&c->dirs[i].tasks);
	}
	if (c->copy_fd >= 0)
		close(c->copy_fd);
	map_fini(&c->by_image);
	map_fini(&c->by_event);
}

void catalog_put(struct catalog *c)
{
	if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (!c->borrows)
		close_all(c);
	arena_fini(&c->arena);
	free(c);
}
