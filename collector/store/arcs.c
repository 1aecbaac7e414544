/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/arcs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/vec.h"
#include "collector/store/route.h"
#include "libspec/sample/sample_read.h"
#include "libspec/sample/sample_write.h"
#include "libspec/session/images.h"
#include "libspec/session/session.h"
#include "libspec/stack/stack_images.h"
#include "libspec/stack/stack_read.h"

enum { SOME = 1024 /* nodes of a sample file */, FIRST_SUM = 1 << 18 /* arcs */ };

/* In "stacks": the session's files of arcs are made here, and may be made anew. */
static const char mark[] = "arcs";

struct arc {
	uint32_t app; /* that it is filed under: index in apps + 1; 0: @from itself */
	uint32_t from, to; /* images */
	uint64_t key, count;
};

struct derive {
	int session_fd, stacks_fd;
	struct spec_stacks table;
	struct spec_stack_images images;
	struct spec_images known; /* the session's */
	struct map old;           /* files of arcs that were not made anew yet */
	struct coll_arcs *out;
	VEC(char *) paths; /* of sample files of stacks, those of one event together */
	/* of one of them: */
	uint64_t *below;     /* by node: samples in it and what it called */
	bool *seen;          /* by node: it is in */
	VEC(uint32_t) nodes; /* those that have samples below them */
	/* of all of one event, process, thread and CPU, which make the same arcs: */
	struct spec_name name; /* of the first of them */
	struct spec_sample_header header;
	VEC(struct spec_image) apps;
	VEC(struct arc) arcs;
	size_t sum_at; /* arcs, when they are summed up next */
	VEC(struct spec_sample_node) file;
};

static void forget_arcs(struct derive *d)
{
	d->arcs.len = 0;
	spec_name_fini(&d->name);
	vec_for(&d->apps, app)
		spec_image_fini(app);
	d->apps.len = 0;
}

static void derive_fini(struct derive *d)
{
	close_fd(&d->stacks_fd);
	spec_stacks_fini(&d->table);
	spec_stack_images_fini(&d->images);
	spec_images_fini(&d->known);
	map_fini(&d->old);
	vec_for(&d->paths, path)
		free(*path);
	vec_fini(&d->paths);
	free(d->below);
	free(d->seen);
	forget_arcs(d);
	vec_fini(&d->apps);
	vec_fini(&d->nodes);
	vec_fini(&d->arcs);
	vec_fini(&d->file);
}

static int no_memory(struct err *err)
{
	return err_errno(err, -ENOMEM, "arcs");
}

/* ---- from counted stacks to samples below each node */

/* Takes the node and its callers in. */
static int see(struct derive *d, uint32_t node)
{
	for (; node && !d->seen[node]; node = d->table.nodes[node].parent) {
		if (vec_push(&d->nodes, node))
			return -ENOMEM;
		d->seen[node] = true;
	}
	return 0;
}

static int read_counts(struct derive *d, const struct spec_sample_reader *r,
		       struct err *err)
{
	struct spec_sample_node some[SOME];
	ssize_t n = 0;

	for (uint32_t at = spec_sample_skip(r, 0); at < r->nr_nodes;
	     at = spec_sample_skip(r, at + (uint32_t)n)) {
		n = spec_sample_read(r, at, some, SOME, err);
		if (n <= 0)
			return (int)n;
		for (ssize_t i = 0; i < n; i++) {
			uint64_t node = some[i].key;

			/* lost by a power failure: nobody knows who called */
			if (!node || node >= d->table.nr)
				continue;
			if (see(d, (uint32_t)node))
				return no_memory(err);
			d->below[node] += some[i].value;
		}
	}
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* Callers have lower numbers than what they call. */
static void add_up(struct derive *d)
{
	if (d->nodes.len)
		qsort(d->nodes.data, d->nodes.len, sizeof(*d->nodes.data), by_number);
	for (size_t i = d->nodes.len; i-- > 0;) {
		uint32_t node = d->nodes.data[i];

		d->below[d->table.nodes[node].parent] += d->below[node];
	}
}

static void forget_counts(struct derive *d)
{
	vec_for(&d->nodes, node) {
		d->below[*node] = 0;
		d->seen[*node] = false;
	}
	d->below[0] = 0;
	d->nodes.len = 0;
}

/* ---- from nodes to arcs */

static int by_file_and_key(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	if (x->app != y->app)
		return x->app < y->app ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static void sum_arcs(struct derive *d)
{
	struct arc *last = d->arcs.data;

	if (!d->arcs.len)
		return;
	qsort(d->arcs.data, d->arcs.len, sizeof(*d->arcs.data), by_file_and_key);
	for (struct arc *a = last + 1; a < d->arcs.data + d->arcs.len; a++) {
		if (by_file_and_key(last, a))
			*++last = *a;
		else
			last->count += a->count;
	}
	d->arcs.len = (size_t)(last + 1 - d->arcs.data);
	d->sum_at = 2 * d->arcs.len > FIRST_SUM ? 2 * d->arcs.len : FIRST_SUM;
}

static bool has_image(const struct derive *d, const struct spec_stack_node *n)
{
	return n->image && n->image < d->images.nr &&
	       d->images.by_number[n->image].name.kind != SPEC_IMAGE_NONE;
}

/* The application that samples of a file are filed under; NULL: a kernel that is filed by
 * itself tells of none. */
static const struct spec_image *app_of(const struct spec_name *name,
				       const struct spec_sample_header *header)
{
	return header->is_kernel && spec_image_equal(&name->app, &name->image)
		       ? NULL
		       : &name->app;
}

/*
 * Arcs of a caller are filed as samples in it would be.  Sets what they are filed under.
 * False: that must be an application, and it is not known which.
 */
static bool route(const struct derive *d, const struct spec_image *app, struct arc *arc)
{
	const struct spec_stack_image *from = &d->images.by_number[arc->from];
	const struct coll_image caller = { .name = from->name };
	const struct coll_image known = { .name = app ? *app : (struct spec_image){ 0 } };
	const struct coll_context c = { .kernel = from->kernel,
					.app = app ? &known : NULL,
					.image = &caller };
	struct coll_key key;

	if (!coll_route(app ? d->table.separate : 0, &c, &key))
		return false;
	arc->app = spec_image_equal(&key.app->name, &from->name)
			   ? 0
			   : (uint32_t)d->apps.len; /* the last is @app */
	return true;
}

static int make_arcs(struct derive *d, const struct spec_image *app)
{
	const struct spec_stack_node *nodes = d->table.nodes;

	vec_for(&d->nodes, at) {
		const struct spec_stack_node *n = &nodes[*at];
		const struct spec_stack_node *from = &nodes[n->parent];
		struct arc arc;

		if (!n->parent || !has_image(d, n))
			continue;
		/* the mark for exact addresses is shifted out, or cut off */
		arc = (struct arc){ .from = from->image,
				    .to = n->image,
				    .key = from->off << 32 | (n->off & UINT32_MAX),
				    .count = d->below[*at] };
		if (!route(d, app, &arc)) {
			d->out->lost += arc.count;
			continue;
		}
		if (d->arcs.len >= d->sum_at)
			sum_arcs(d);
		if (vec_push(&d->arcs, arc))
			return -ENOMEM;
	}
	return 0;
}

/* ---- from arcs to files */

/* 0: unknown. */
static uint64_t mtime_of(const struct derive *d, const struct spec_image *image)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	const struct spec_image_row *row;

	spec_image_show(image, &name);
	row = spec_images_find(&d->known, strbuf_str(&name));
	return row ? row->mtime : 0;
}

/* Counts that are too large for one node go on in a second one. */
static int fill_file(struct derive *d, const struct arc *arcs, size_t nr, uint64_t *sum)
{
	static const struct spec_sample_node none;

	*sum = 0;
	d->file.len = 0;
	if (vec_push(&d->file, none))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct spec_sample_node node = { .key = arcs[i].key };

		*sum += arcs[i].count;
		for (uint64_t left = arcs[i].count; left; left -= node.value) {
			node.value = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
			if (vec_push(&d->file, node))
				return -ENOMEM;
		}
	}
	return 0;
}

static int write_file(struct derive *d, const struct arc *arc, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	const struct spec_stack_image *from = &d->images.by_number[arc->from],
				      *to = &d->images.by_number[arc->to];
	struct spec_name name = d->name;
	struct spec_sample_header h = d->header;
	int rc;

	name.app = arc->app ? d->apps.data[arc->app - 1] : from->name;
	name.image = from->name;
	name.callee = to->name;
	h.is_kernel = from->kernel;
	h.mtime = mtime_of(d, &from->name);
	h.anon_start = from->name.start;
	h.cg_to_is_kernel = to->kernel;
	h.cg_to_anon_start = to->name.start;
	rc = spec_name_format(&name, &path, err);
	if (!rc)
		rc = spec_sample_replace(d->session_fd, strbuf_str(&path), &h,
					 d->file.data, (uint32_t)d->file.len, err);
	if (rc)
		return rc;
	log_debug(LOG_ARCS, "sample file %s", strbuf_str(&path));
	map_del(&d->old, path.data, path.len);
	return 0;
}

static bool same_file(const struct arc *a, const struct arc *b)
{
	return a->app == b->app && a->from == b->from && a->to == b->to;
}

static int write_files(struct derive *d)
{
	size_t nr;

	sum_arcs(d);
	for (size_t i = 0; i < d->arcs.len; i += nr) {
		const struct arc *a = &d->arcs.data[i];
		struct err err = { 0 };
		uint64_t sum;
		int rc;

		for (nr = 1; i + nr < d->arcs.len && same_file(a, a + nr);)
			nr++;
		rc = fill_file(d, a, nr, &sum);
		if (!rc)
			rc = write_file(d, a, &err);
		if (rc == -ENOMEM)
			return rc;
		*(rc ? &d->out->lost : &d->out->stored) += sum;
		if (rc && !d->out->why.code)
			d->out->why = err;
	}
	forget_arcs(d);
	return 0;
}

/* ---- one sample file after another */

/* What all of them have in common is the first one's; files of one application stand
 * together. */
static int begin_file(struct derive *d, const struct spec_sample_header *header,
		      struct spec_name *name, struct err *err)
{
	struct spec_image app;

	if (!d->apps.len ||
	    !spec_image_equal(&d->apps.data[d->apps.len - 1], &name->app)) {
		if (spec_image_copy(&app, &name->app, err))
			return -ENOMEM;
		if (vec_push(&d->apps, app)) {
			spec_image_fini(&app);
			return no_memory(err);
		}
	}
	if (!d->name.event) {
		d->header = *header;
		d->name = TAKE(*name);
	}
	return 0;
}

/* Whoever sums up the session names damaged files. */
static int take_file(struct derive *d, const char *path, struct err *err)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	CLEANUP(spec_name_fini) struct spec_name name = { 0 };
	bool alone;
	int rc = spec_name_parse(path, true, &name, err);

	if (!rc)
		rc = spec_sample_open(d->stacks_fd, path, &r, err);
	if (!rc)
		rc = read_counts(d, &r, err);
	add_up(d);
	if (d->nodes.len && rc != -ENOMEM) {
		alone = !app_of(&name, &r.header);
		rc = begin_file(d, &r.header, &name, err);
		if (!rc && make_arcs(d, alone ? NULL : &d->apps.data[d->apps.len - 1]))
			rc = no_memory(err);
	}
	forget_counts(d);
	return rc == -ENOMEM ? rc : 0;
}

static int find_file(void *ctx, struct spec_session_file *file)
{
	struct derive *d = ctx;
	char *copy;

	if (file->bad || file->name->callee.name)
		return 0;
	copy = strdup(file->path);
	if (copy && !vec_push(&d->paths, copy))
		return 0;
	free(copy);
	return -ENOMEM;
}

static int by_event(const void *a, const void *b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	int by = strcmp(basename(x), basename(y));

	return by ? by : strcmp(x, y);
}

static int take_files(struct derive *d, struct err *err)
{
	const char *last = NULL;
	int rc = spec_session_walk(d->stacks_fd, true, find_file, d, err);

	if (rc)
		return rc;
	if (d->paths.len)
		qsort(d->paths.data, d->paths.len, sizeof(*d->paths.data), by_event);
	vec_for(&d->paths, path) {
		if (last && strcmp(basename(last), basename(*path)) != 0)
			rc = write_files(d);
		if (!rc)
			rc = take_file(d, *path, err);
		if (rc)
			return rc;
		last = *path;
	}
	return write_files(d) ? no_memory(err) : 0;
}

/* ---- what there is */

static int find_old(void *ctx, struct spec_session_file *file)
{
	struct derive *d = ctx;

	if (file->bad || !file->name->callee.name)
		return 0;
	return map_set(&d->old, file->path, strlen(file->path), 1);
}

/* Whether arcs are to be made of the stacks: all that there are were, or will be. */
static int is_ours(struct derive *d, bool *ours, struct err *err)
{
	bool marked = !faccessat(d->stacks_fd, mark, F_OK, AT_SYMLINK_NOFOLLOW);
	CLEANUP(close_fd) int fd = -1;
	int rc = spec_session_walk(d->session_fd, true, find_old, d, err);

	*ours = !rc && (marked || !d->old.used);
	if (!*ours || marked)
		return rc;
	fd = openat(d->stacks_fd, mark, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0644);
	return fd < 0 ? err_errno(err, -errno, SPEC_STACK_DIR "/%s", mark) : 0;
}

/* What is no frame of a known image is passed over, so that its neighbours join. */
static void join_neighbours(struct derive *d)
{
	struct spec_stack_node *nodes = d->table.nodes;

	for (uint32_t i = 1; i < d->table.nr; i++)
		if (nodes[i].parent && !has_image(d, &nodes[nodes[i].parent]))
			nodes[i].parent = nodes[nodes[i].parent].parent;
}

static int read_tables(struct derive *d, struct err *err)
{
	CLEANUP(close_fd) int fd = spec_stacks_open(d->session_fd, err);
	int rc = fd < 0 ? fd : spec_stacks_read(fd, UINT32_MAX, &d->table, err);

	rc = rc ? rc : spec_stack_images_read(d->stacks_fd, &d->images, err);
	rc = rc ? rc : spec_images_read(d->session_fd, &d->known, err);
	if (rc)
		return rc;
	join_neighbours(d);
	d->below = calloc(d->table.nr + 1ul, sizeof(*d->below));
	d->seen = calloc(d->table.nr + 1ul, sizeof(*d->seen));
	return d->below && d->seen ? 0 : no_memory(err);
}

/* Other stacks, or the same filed in another way, made them. */
static void remove_old(struct derive *d)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	const void *name;
	uint64_t value;
	size_t pos = 0, len;

	while (map_next(&d->old, &pos, &name, &len, &value)) {
		strbuf_reset(&path);
		strbuf_add(&path, name, len);
		if (!strbuf_error(&path) && unlinkat(d->session_fd, path.data, 0))
			log_warn("%s: %s", path.data, strerror(errno));
	}
}

int coll_arcs_derive(int session_fd, struct coll_arcs *out, struct err *err)
{
	CLEANUP(derive_fini)
	struct derive d = { .session_fd = session_fd, .sum_at = FIRST_SUM, .out = out };
	bool ours;
	int rc;

	*out = (struct coll_arcs){ 0 };
	d.stacks_fd =
		file_open_within(session_fd, SPEC_STACK_DIR, O_RDONLY | O_DIRECTORY);
	if (d.stacks_fd < 0)
		return d.stacks_fd == -ENOENT
			       ? 0
			       : err_errno(err, d.stacks_fd, SPEC_STACK_DIR);
	rc = is_ours(&d, &ours, err);
	if (rc || !ours)
		return rc;
	rc = read_tables(&d, err);
	if (!rc)
		rc = take_files(&d, err);
	if (rc)
		return rc;
	out->derived = true;
	if (!out->lost)
		remove_old(&d);
	return 0;
}

int coll_arcs_close(int session_fd, struct spec_stats *figures, struct coll_arcs *out,
		    struct err *err)
{
	int rc = coll_arcs_derive(session_fd, out, err);

	if (rc || !out->derived)
		return rc;
	figures->value[SPEC_STAT_ARCS] = out->stored;
	figures->value[SPEC_STAT_LOST_CG_FILE] = out->lost;
	return 0;
}
