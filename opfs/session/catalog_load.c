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
#include "base/hex.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "libspec/session/manifest.h"
#include "libspec/session/session.h"

enum { COPY_NODES = 4096 };
enum { SUFFIX = 1 + 2 * 4 }; /* "#" and the first bytes of a build-id */

/* A catalog that is being made. */
struct catalog_build {
	struct catalog *c;
	const struct viewer *viewer;
	const struct spec_abi *abi; /* as in struct catalog_dir */
	uint32_t dir;               /* index of the session that is being read */
	bool copying;               /* it is live: its samples are copied */
	off_t copy_end;             /* length of the copy */
	struct map images;          /* kind and shown name -> index */
	struct map binaries;        /* path and build-id -> index */
	VEC(struct catalog_image) image_list;
	VEC(struct catalog_file) flat, cg;
	VEC(struct catalog_bad) bad;
	VEC(char *) lines; /* notes, throttled events */
	struct strbuf text;
	struct err *err;
};

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

static int no_memory(struct catalog_build *b)
{
	return err_set(b->err, -ENOMEM, "out of memory while reading a session");
}

/* @path: as in struct catalog_bad */
static int push_bad(struct catalog_build *b, const char *path, const char *reason)
{
	struct catalog_bad bad = { .path = arena_strdup(&b->c->arena, path),
				   .reason = arena_strdup(&b->c->arena, reason) };

	if (!bad.path || !bad.reason || vec_push(&b->bad, bad))
		return no_memory(b);
	return 0;
}

/* Of the session that is being read. */
static int add_bad(struct catalog_build *b, const char *path, const char *reason)
{
	strbuf_reset(&b->text);
	strbuf_printf(&b->text, "%s/%s", b->c->dirs[b->dir].session, path);
	return push_bad(b, strbuf_str(&b->text), reason);
}

/* ---- images */

static const char *base_of(const struct catalog_image *img)
{
	const char *slash = strrchr(img->shown, '/');

	return img->name.kind != SPEC_IMAGE_ANON && slash && slash[1] ? slash + 1
								      : img->shown;
}

static void add_suffix(const struct build_id *id, struct strbuf *out)
{
	strbuf_putc(out, '#');
	hex_add(out, id->bytes, id->len < 4 ? id->len : 4);
}

/* The length of a stored name without the suffix that opcollect gives a second binary. */
static size_t plain_len(const char *shown, const struct build_id *id)
{
	CLEANUP(strbuf_fini) struct strbuf suffix = { 0 };
	size_t len = strlen(shown);

	add_suffix(id, &suffix);
	if (suffix.len == SUFFIX && len > SUFFIX &&
	    !strcmp(shown + len - SUFFIX, strbuf_str(&suffix)))
		return len - SUFFIX;
	return len;
}

/* Adds an image; b->text holds its kind and shown name. */
static int new_image(struct catalog_build *b, const struct spec_image *name,
		     const struct spec_image_row *row, uint32_t *out)
{
	struct catalog_image img = { .name = *name, .row = row };
	struct arena *arena = &b->c->arena;

	img.shown = arena_strdup(arena, b->text.data + 1);
	/* the name of a file is what is shown, that of memory and the kernel is not */
	img.name.name = name->kind == SPEC_IMAGE_ROOT ? img.shown
						      : arena_strdup(arena, name->name);
	if (!img.name.name || !img.shown)
		return no_memory(b);
	img.base = base_of(&img);
	img.label = name->kind == SPEC_IMAGE_ANON ? img.name.name : NULL;
	img.kernel = name->kind == SPEC_IMAGE_KERN;
	*out = (uint32_t)b->image_list.len;
	if (map_set(&b->images, b->text.data, b->text.len, *out) ||
	    vec_push(&b->image_list, img))
		return no_memory(b);
	return 0;
}

/* Does the name in b->text belong to another binary than @row? */
static bool is_taken(const struct catalog_build *b, const struct spec_image_row *row,
		     uint64_t index)
{
	const struct spec_image_row *other = b->image_list.data[index].row;

	return other && other->build_id.len && row && row->build_id.len &&
	       !build_id_equal(&other->build_id, &row->build_id);
}

static int by_name(struct catalog_build *b, const struct spec_image *name,
		   const struct spec_image_row *row, uint32_t *out)
{
	uint64_t found;

	if (!map_get(&b->images, b->text.data, b->text.len, &found))
		return new_image(b, name, row, out);
	if (is_taken(b, row, found)) {
		add_suffix(&row->build_id, &b->text);
		if (strbuf_error(&b->text))
			return no_memory(b);
		if (!map_get(&b->images, b->text.data, b->text.len, &found))
			return new_image(b, name, row, out);
	}
	if (!b->image_list.data[found].row)
		b->image_list.data[found].row = row;
	*out = (uint32_t)found;
	return 0;
}

/*
 * The index of an image of the session that is being read.  A binary is one image
 * whatever sessions call it: one that a session stored as PATH#ID may be PATH in another.
 * A second binary of the same name gets a name of this form.
 */
static int add_image(struct catalog_build *b, const struct spec_image *name,
		     uint32_t *out)
{
	CLEANUP(strbuf_fini) struct strbuf binary = { 0 };
	const struct spec_image_row *row;
	uint64_t found;
	int rc;

	strbuf_reset(&b->text);
	strbuf_putc(&b->text, (char)('0' + (int)name->kind));
	spec_image_show(name, &b->text);
	if (strbuf_error(&b->text))
		return no_memory(b);
	row = spec_images_find(&b->c->dirs[b->dir].rows, b->text.data + 1);
	if (!row || !row->build_id.len || name->kind != SPEC_IMAGE_ROOT)
		return by_name(b, name, row, out);
	strbuf_add(&binary, b->text.data + 1,
		   plain_len(b->text.data + 1, &row->build_id));
	strbuf_putc(&binary, '\0');
	strbuf_add(&binary, row->build_id.bytes, row->build_id.len);
	if (strbuf_error(&binary))
		return no_memory(b);
	if (map_get(&b->binaries, binary.data, binary.len, &found)) {
		*out = (uint32_t)found;
		return 0;
	}
	rc = by_name(b, name, row, out);
	if (!rc && map_set(&b->binaries, binary.data, binary.len, *out))
		rc = no_memory(b);
	return rc;
}

/* ---- files */

static int add_file(struct catalog_build *b, const struct spec_name *n, const char *path,
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

	rc = add_image(b, &n->app, &f.app);
	rc = rc ? rc : add_image(b, &n->image, &f.image);
	if (!rc && !flat)
		rc = add_image(b, &n->callee, &f.callee);
	if (rc)
		return rc;
	b->image_list.data[f.image].kernel |= r->header.is_kernel != 0;
	f.name.app = b->image_list.data[f.app].name;
	f.name.image = b->image_list.data[f.image].name;
	f.name.callee =
		flat ? (struct spec_image){ 0 } : b->image_list.data[f.callee].name;
	f.name.event = arena_strdup(&b->c->arena, n->event);
	f.path = arena_strdup(&b->c->arena, path);
	if (!f.name.event || !f.path ||
	    (flat ? vec_push(&b->flat, f) : vec_push(&b->cg, f)) ||
	    map_set(&b->c->by_event, f.name.event, strlen(f.name.event), 1))
		return no_memory(b);
	return 0;
}

/* Writes nodes to the copy; a hole stays a hole, so a damaged length takes no room. */
static int write_nodes(const struct catalog_build *b, uint32_t at,
		       const struct spec_sample_node *nodes, size_t nr)
{
	static const struct spec_sample_node zeros[COPY_NODES];
	ssize_t bytes = (ssize_t)(nr * sizeof(*nodes)), n = bytes;
	off_t to = b->copy_end + (off_t)at * (off_t)sizeof(*nodes);

	if (memcmp(nodes, zeros, (size_t)bytes) != 0)
		n = pwrite(b->c->copy_fd, nodes, (size_t)bytes, to);
	return n == bytes ? 0 : n < 0 ? -errno : -ENOSPC; /* short: the disk is full */
}

/*
 * Sums a file's nodes and, of a live one, copies them.  Each is read once, so that all
 * reports of this generation agree with its total.
 */
static int take_nodes(struct catalog_build *b, const struct spec_sample_reader *r,
		      uint64_t *total, struct err *err)
{
	struct spec_sample_node nodes[COPY_NODES];
	int rc = 0;

	for (uint32_t at = 0; (at = spec_sample_skip(r, at)) < r->nr_nodes && !rc;) {
		ssize_t n = spec_sample_read(r, at, nodes, COPY_NODES, err);

		if (n < 0)
			return (int)n;
		if (viewer_gone(b->viewer))
			return err_set(err, -EINTR, "interrupted");
		if (b->copying)
			rc = write_nodes(b, at, nodes, (size_t)n);
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
	int rc;

	if (!b->copying)
		return take_nodes(b, r, total, err);
	if (b->c->copy_fd < 0)
		b->c->copy_fd = file_unnamed();
	if (b->c->copy_fd < 0)
		return err_errno(err, b->c->copy_fd, "a temporary file for live samples");
	rc = take_nodes(b, r, total, err);
	if (!rc)
		b->copy_end += bytes;
	/* what a failed copy left must not show through holes */
	else if (ftruncate(b->c->copy_fd, b->copy_end))
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
	int rc = spec_sample_open_as(dirfd, path, b->abi, &r, &why);

	if (rc == -ENOENT || rc == -ENOMEM) /* ENOENT: removed meanwhile */
		return rc == -ENOENT ? 0 : no_memory(b);
	if (!rc && r.foreign)
		b->c->dirs[b->dir].machine = spec_abi_describe(&r.abi);
	if (!rc)
		rc = sum_file(b, &r, &total, &why);
	if (rc == -EINTR) {
		spec_sample_fini(&r);
		return err_set(b->err, rc, "%s", why.msg);
	}
	rc = rc ? add_bad(b, path, why.msg) : add_file(b, n, path, &r, total, copy_off);
	spec_sample_fini(&r);
	return rc;
}

static int visit(void *ctx, struct spec_session_file *file)
{
	struct catalog_build *b = ctx;

	if (viewer_gone(b->viewer))
		return err_set(b->err, -EINTR, "interrupted");
	if (file->bad)
		return add_bad(b, file->path, file->bad->msg);
	return read_file(b, b->c->dirs[b->dir].fd, file->path, file->name);
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
	if (!separated)
		return 0;
	rc = spec_tasks_read(d->fd, &d->tasks, &why);
	if (rc)
		return rc == -ENOMEM ? no_memory(b) : add_bad(b, "tasks", why.msg);
	rc = index_tasks(&d->tasks, &by_id);
	for (size_t i = flat; i < b->flat.len && !rc; i++)
		find_task(d, &by_id, &b->flat.data[i]);
	for (size_t i = cg; i < b->cg.len && !rc; i++)
		find_task(d, &by_id, &b->cg.data[i]);
	map_u64_fini(&by_id);
	return rc ? no_memory(b) : 0;
}

/* ---- sessions */

static int keep_line(void *ctx, const char *line)
{
	struct catalog_build *b = ctx;
	char *copy = arena_strdup(&b->c->arena, line);

	return copy && !vec_push(&b->lines, copy) ? 0 : no_memory(b);
}

/* Moves b->lines to an array of the catalog. */
static int take_lines(struct catalog_build *b, char ***out, size_t *nr)
{
	*out = arena_calloc(&b->c->arena, b->lines.len + 1, sizeof(**out));
	for (*nr = 0; *out && *nr < b->lines.len; ++*nr)
		(*out)[*nr] = b->lines.data[*nr];
	b->lines.len = 0;
	return *out ? 0 : no_memory(b);
}

/* The tables beside the sample files.  A damaged one is reported, not fatal. */
static int read_tables(struct catalog_build *b, struct catalog_dir *d)
{
	struct err why = { 0 };
	int rc = spec_images_read(d->fd, &d->rows, &why);

	if (rc)
		rc = add_bad(b, "images", why.msg);
	if (!rc && spec_regions_read(d->fd, &d->regions, &why))
		rc = add_bad(b, "regions", why.msg);
	if (!rc && spec_stats_read(d->fd, &d->stats, &why))
		rc = add_bad(b, "stats", why.msg);
	if (!rc) {
		int live = spec_live_read(d->fd, &d->live, &why);

		struct spec_session_span when = { 0 };

		d->has_live = !live;
		if (!live && !spec_session_span(d->fd, d->session, 0, &when, NULL))
			d->when = when.span;
		if (live && live != -ENOENT)
			rc = add_bad(b, "stats/live", why.msg);
	}
	if (!rc && spec_stats_each_note(d->fd, keep_line, b, &why) == -ENOMEM)
		return no_memory(b);
	rc = rc ? rc : take_lines(b, &d->notes, &d->nr_notes);
	if (!rc && spec_stats_each_throttled(d->fd, keep_line, b, &why) == -ENOMEM)
		return no_memory(b);
	return rc ? rc : take_lines(b, &d->throttled, &d->nr_throttled);
}

static int no_session(struct catalog_build *b, const char *name, int rc)
{
	if (rc == -ENOENT)
		return err_set(b->err, rc,
			       "session %.100s: there is none of that name (it may "
			       "have been removed or renamed)",
			       name);
	if (rc == -EACCES)
		return err_set(b->err, rc,
			       "session %.100s: its directory does not allow you "
			       "to read it (its owner can: chmod o+rx)",
			       name);
	return err_errno(b->err, rc, "session %.100s", name);
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
		return no_memory(b);
	if (samples_fd >= 0)
		d->fd = openat(samples_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (d->fd < 0 && (samples_fd < 0 || errno == ENOENT) && !strcmp(name, "current"))
		return 0;
	if (d->fd < 0)
		return no_session(b, name, samples_fd < 0 ? -ENOENT : -errno);
	d->sealed = strcmp(name, "current") != 0 &&
		    !faccessat(d->fd, SPEC_MANIFEST, F_OK, AT_SYMLINK_NOFOLLOW);
	if (fstat(d->fd, &st))
		return no_session(b, name, -errno);
	d->dev = st.st_dev;
	d->ino = st.st_ino;
	d->mtime_ns = clock_ns_of(&st.st_mtim);
	d->escaped = spec_session_escaped(d->fd);
	d->abi = b->abi;
	d->machine = d->abi ? spec_abi_describe(d->abi) : NULL;
	rc = read_tables(b, d);
	d->sealed = d->sealed && d->live.closed;
	b->copying = catalog_is_live(d);
	b->c->live |= b->copying;
	rc = rc ? rc : spec_session_walk(d->fd, d->escaped, visit, b, b->err);
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
		rc = rc ? rc : add_file(b, &name, f->path, &r, f->total, 0);
		if (!rc && i < one->nr_flat)
			b->flat.data[b->flat.len - 1].task = f->task;
		else if (!rc)
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
	for (size_t i = 0; i < one->nr_bad && !rc; i++)
		if (strcmp(one->bad[i].path, SPEC_ABI) != 0 && /* it is the same */
		    vec_push(&b->bad, one->bad[i]))
			rc = no_memory(b);
	return rc;
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
		return no_memory(b);
	for (size_t i = 0; i < c->nr_images; i++) {
		struct catalog_image *img = &c->images[i];

		*img = b->image_list.data[i];
		c->names[i] = (struct spec_match_image){ .shown = img->shown,
							 .base = img->base,
							 .label = img->label,
							 .kernel = img->kernel };
		if (map_set(&c->by_image, img->shown, strlen(img->shown), i) ||
		    map_set(&c->by_image, img->base, strlen(img->base), i) ||
		    (img->label &&
		     map_set(&c->by_image, img->label, strlen(img->label), i)))
			return no_memory(b);
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
		return no_memory(b);
	b->c->refs = 1;
	b->c->copy_fd = -1;
	b->c->dirs = arena_calloc(&b->c->arena, nr_dirs + 1, sizeof(*b->c->dirs));
	return b->c->dirs ? 0 : no_memory(b);
}

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
		return no_memory(b);
	if (rc)
		return rc == -ENOENT ? 0 : push_bad(b, SPEC_ABI, why.msg);
	if (spec_abi_is_native(&abi))
		return 0;
	b->abi = (void *)arena_memdup(&b->c->arena, &abi, sizeof(abi));
	return b->abi ? 0 : no_memory(b);
}

int catalog_load(int session_dir_fd, char *const *names, size_t nr,
		 struct catalog *const *parts, const struct viewer *v,
		 struct catalog **out, struct err *err)
{
	CLEANUP(build_fini) struct catalog_build b = { .viewer = v, .err = err };
	CLEANUP(close_fd) int samples = -1;
	int rc = begin(&b, nr);

	if (rc)
		return rc;
	samples = openat(session_dir_fd, "samples", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (samples < 0 && errno == EACCES)
		return err_set(err, -EACCES,
			       "samples, in the session directory: does not "
			       "allow you to read it (its owner can: chmod o+rx)");
	if (samples < 0 && errno != ENOENT)
		return err_errno(err, -errno, "samples, in the session directory");
	rc = read_abi(&b, session_dir_fd);
	for (b.dir = 0; b.dir < nr && !rc; b.dir++) {
		if (parts && parts[b.dir])
			rc = add_part(&b, parts[b.dir]);
		else
			rc = read_session(&b, samples, names[b.dir]);
	}
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
		return no_memory(b);
	rc = rc ? rc : read_file(b, AT_FDCWD, path, &name);
	if (!rc && b->bad.len)
		return err_set(b->err, -EBADMSG, "%.300s", b->bad.data[0].reason);
	if (!rc && !b->flat.len)
		return err_set(b->err, -ENOENT, "%.300s: no flat sample file there",
			       path);
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
