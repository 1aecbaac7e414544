/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/stacks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "libspec/stack/stack_read.h"
#include "opfs/profile/images.h"

enum { MAX_DEPTH = 2048, BLOCK_NODES = 2048 };

/* The key of samples whose own frame is not known: no symbol is there. */
#define NOWHERE (UINT64_MAX >> 1)

/*
 * From the tables of all sessions to one: frames without samples below them are left out,
 * and the same frame of two sessions is one.
 */
struct reading {
	struct profile_build *b;
	VEC(struct profile_frame) frames;
	VEC(uint16_t) depths; /* of each of these */
	VEC(struct profile_stack) stacks;
	struct map known; /* frame -> index; where several sessions are summed */
	bool several;
	uint32_t ends[SPEC_STACK_ENDS]; /* frames that stand for no stack */
	/* of the session at hand: */
	const struct catalog_dir *dir;
	struct spec_stacks table;
	uint32_t *to; /* of each of its nodes: 1 if it is needed; then the frame */
	struct profile_stack_file *files;
	size_t nr_files;
	uint32_t file; /* the one at hand */
};

static void reading_fini(struct reading *r)
{
	vec_fini(&r->frames);
	vec_fini(&r->depths);
	vec_fini(&r->stacks);
	map_fini(&r->known);
	spec_stacks_fini(&r->table);
	free(r->to);
}

/* ---- frames */

/* Appends it unless it is known.  0 or -ENOMEM. */
static int add_frame(struct reading *r, const struct profile_frame *f, uint32_t *out)
{
	uint16_t depth = (uint16_t)(r->depths.data[f->parent] + 1);
	struct {
		uint64_t where, off;
	} key = { (uint64_t)f->parent << 32 | f->image, f->off };
	uint64_t at;

	if (r->several && map_get(&r->known, &key, sizeof(key), &at)) {
		*out = (uint32_t)at;
		return 0;
	}
	if (r->frames.len >= UINT32_MAX || vec_push(&r->frames, *f) ||
	    vec_push(&r->depths, depth))
		return -ENOMEM;
	*out = (uint32_t)r->frames.len - 1;
	return r->several ? map_set(&r->known, &key, sizeof(key), *out) : 0;
}

/* The frame that says why there is no stack. */
static int frame_of_end(struct reading *r, enum spec_stack_end why, uint32_t *out)
{
	const struct profile_frame f = { .image = CATALOG_NO_IMAGE, .off = why };

	if (!r->ends[why] && add_frame(r, &f, &r->ends[why]))
		return -ENOMEM;
	*out = r->ends[why];
	return 0;
}

/* No collector of ours writes stacks so deep, and whatever is done for each frame of a
 * stack must end: callers that are farther out are cut off. */
static int bound_depth(struct reading *r, struct profile_frame *f)
{
	if (r->depths.data[f->parent] < MAX_DEPTH)
		return 0;
	return frame_of_end(r, SPEC_STACK_DEPTH, &f->parent);
}

static uint32_t image_of(const struct reading *r, uint32_t number)
{
	return number < r->dir->stack_images.nr ? r->dir->image_of_stack[number]
						: CATALOG_NO_IMAGE;
}

/* Moves the nodes that are needed. */
static int move_frames(struct reading *r)
{
	for (uint32_t i = 1; i < r->table.nr; i++) {
		const struct spec_stack_node *n = &r->table.nodes[i];
		struct profile_frame f = { .off = n->off };

		if (!r->to[i])
			continue;
		f.parent = n->parent ? r->to[n->parent] : 0;
		f.image = n->image ? image_of(r, n->image) : CATALOG_NO_IMAGE;
		if (n->image && f.image == CATALOG_NO_IMAGE)
			f.off = SPEC_STACK_UNKNOWN;
		if (f.image != CATALOG_NO_IMAGE)
			r->b->p->images[f.image].used = true;
		if (bound_depth(r, &f) || add_frame(r, &f, &r->to[i]))
			return -ENOMEM;
	}
	return 0;
}

/* ---- counts */

static int add_stack(struct reading *r, uint32_t frame, uint64_t samples)
{
	const struct profile_stack s = { .file = r->file,
					 .frame = frame,
					 .samples = samples };

	return vec_push(&r->stacks, s);
}

/* Is the node one of the file's own image?  Then the disk has not lost what tells it. */
static bool is_sampled(const struct reading *r, uint32_t node)
{
	return node &&
	       image_of(r, r->table.nodes[node].image) == r->files[r->file].file->image;
}

/* Frames are nodes of the session's table until these are moved. */
static int keep_nodes(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct reading *r = ctx;

	for (size_t i = 0; i < nr; i++) {
		struct profile_stack_file *f = &r->files[r->file];
		uint32_t at = 0, value = nodes[i].value;

		if (nodes[i].key < r->table.nr)
			at = (uint32_t)nodes[i].key;
		if (!is_sampled(r, at)) {
			*(at == SPEC_STACK_FIRST ? &f->full : &f->lost) += value;
			continue;
		}
		if (!value)
			continue;
		f->stored += value;
		if (add_stack(r, at, value))
			return -ENOMEM;
		for (; at && !r->to[at]; at = r->table.nodes[at].parent)
			r->to[at] = 1;
	}
	return viewer_gone(r->b->v) ? profile_interrupted(r->b) : 0;
}

static int read_table(struct reading *r)
{
	static char path[] = SPEC_STACK_TABLE;
	const struct catalog_file table = { .path = path };
	struct err why = { 0 };
	int rc;

	spec_stacks_fini(&r->table);
	free(r->to);
	r->to = NULL;
	if (r->dir->frames_fd < 0)
		return 0;
	rc = spec_stacks_read(r->dir->frames_fd, r->dir->max_frames, &r->table, &why);
	if (rc == -ENOMEM)
		return rc;
	if (!rc && r->table.damaged)
		err_set(&why, -EBADMSG, "%s: %" PRIu64 " of its frames cannot be read",
			path, r->table.damaged);
	r->to = calloc((size_t)r->table.nr + 1, sizeof(*r->to));
	return r->to ? profile_note_bad(r->b, &table, &why) : -ENOMEM;
}

static int read_counts(struct reading *r, uint32_t file)
{
	struct profile_stack_file *f = &r->files[file];
	struct err why = { 0 };
	int rc = 0;

	r->file = file;
	f->lib = r->table.separate & SPEC_STACK_LIB;
	f->kernel = r->table.separate & SPEC_STACK_KERNEL;
	if (f->file->stacks.nr_nodes && r->to)
		rc = profile_read_stack_nodes(r->b->p->cat, f->file, keep_nodes, r, &why);
	return rc ? rc : profile_note_bad(r->b, f->file, &why);
}

/* From the nodes of the session's table to frames. */
static int move_stacks(struct reading *r, size_t first)
{
	int rc = move_frames(r);

	for (size_t i = first; i < r->stacks.len && !rc; i++)
		r->stacks.data[i].frame = r->to[r->stacks.data[i].frame];
	return rc;
}

/* @files: the indices of those that are of one session. */
static int read_session(struct reading *r, const uint32_t *files, size_t nr)
{
	size_t first = r->stacks.len;
	int rc;

	r->dir = &r->b->p->cat->dirs[r->files[files[0]].file->dir];
	rc = read_table(r);
	for (size_t i = 0; i < nr && !rc; i++)
		rc = read_counts(r, files[i]);
	return rc ? rc : move_stacks(r, first);
}

/* ---- samples that have no stack */

struct rest {
	struct reading *r;
	struct map_u64 stored; /* offset -> samples there whose stack is known */
	uint64_t left;
};

/* Stacks [@first, @end) are of the file at hand. */
static int note_stored(struct rest *rest, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		const struct profile_stack *s = &rest->r->stacks.data[i];
		const struct profile_frame *f = &rest->r->frames.data[s->frame];
		uint64_t off = f->off & ~SPEC_STACK_EXACT, sum = 0;

		map_u64_get(&rest->stored, off, &sum);
		if (map_u64_set(&rest->stored, off, sum + s->samples))
			return -ENOMEM;
	}
	return 0;
}

/* Their stack is the frame that was sampled, and why there is no more. */
static int add_because(struct rest *rest, uint64_t off, enum spec_stack_end why,
		       uint64_t samples)
{
	struct reading *r = rest->r;
	struct profile_frame f = { .image = r->files[r->file].file->image,
				   .off = off | SPEC_STACK_EXACT };
	uint32_t frame;

	r->b->p->images[f.image].used = true;
	if (frame_of_end(r, why, &f.parent) || add_frame(r, &f, &frame))
		return -ENOMEM;
	return add_stack(r, frame, samples);
}

/* Which of them it is of does not matter: the figures of each file are right. */
static int add_bare(struct rest *rest, uint64_t off, uint64_t samples)
{
	struct profile_stack_file *f = &rest->r->files[rest->r->file];
	uint64_t none = UINT64_MAX;
	const struct {
		enum spec_stack_end why;
		uint64_t *left;
	} reasons[] = {
		{ SPEC_STACK_FULL, &f->full },
		{ SPEC_STACK_NODE_LOST, &f->lost },
		{ SPEC_STACK_NOT_STORED, &none },
	};
	int rc = 0;

	rest->left -= samples;
	for (size_t i = 0; samples && !rc; i++) {
		uint64_t some = samples < *reasons[i].left ? samples : *reasons[i].left;

		*reasons[i].left -= some;
		samples -= some;
		if (some)
			rc = add_because(rest, off, reasons[i].why, some);
	}
	return rc;
}

static int look_for_bare(void *ctx, const struct spec_sample_node *nodes, size_t nr)
{
	struct rest *rest = ctx;
	int rc = 0;

	for (size_t i = 0; i < nr && rest->left && !rc; i++) {
		/* an address of the kernel has the bit itself, and loses it in a stack */
		uint64_t key = nodes[i].key & ~SPEC_STACK_EXACT;
		uint64_t samples = nodes[i].value, stored = 0;

		/* a key may come again: what is stored is taken off once */
		map_u64_get(&rest->stored, key, &stored);
		if (stored && map_u64_set(&rest->stored, key,
					  stored > samples ? stored - samples : 0))
			return -ENOMEM;
		samples -= stored < samples ? stored : samples;
		if (samples > rest->left)
			samples = rest->left;
		if (samples)
			rc = add_bare(rest, nodes[i].key, samples);
	}
	return rc;
}

/* Of the file at hand, whose stacks are [@first, @end). */
static int add_rest_of(struct reading *r, size_t first, size_t end)
{
	const struct profile_stack_file *f = &r->files[r->file];
	struct rest rest = { .r = r, .left = f->file->total - f->stored };
	struct err why = { 0 };
	uint32_t frame;
	int rc = note_stored(&rest, first, end);

	if (!rc)
		rc = profile_read_nodes(r->b->p->cat, f->file, look_for_bare, &rest,
					&why);
	map_u64_fini(&rest.stored);
	if (rc || !rest.left)
		return rc;
	/* the file cannot be read any more */
	rc = frame_of_end(r, SPEC_STACK_NOT_STORED, &frame);
	return rc ? rc : add_stack(r, frame, rest.left);
}

/* Stacks are sorted by file within each session, and each file is of one. */
static int add_rest(struct reading *r)
{
	size_t at = 0, end = r->stacks.len;
	int rc = 0;

	while (at < end && !rc) {
		size_t first = at;

		r->file = r->stacks.data[at].file;
		while (at < end && r->stacks.data[at].file == r->file)
			at++;
		if (r->files[r->file].file->total > r->files[r->file].stored)
			rc = add_rest_of(r, first, at);
	}
	for (r->file = 0; r->file < r->nr_files && !rc; r->file++)
		if (!r->files[r->file].stored && r->files[r->file].file->total)
			rc = add_rest_of(r, 0, 0);
	return rc;
}

/* ---- files */

static int compare_files(const void *x, const void *y)
{
	const struct profile_stack_file *a = x, *b = y;

	if (a->file->app != b->file->app)
		return a->file->app < b->file->app ? -1 : 1;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	return a->file < b->file ? -1 : a->file > b->file;
}

static int compare_dirs(const void *x, const void *y, void *ctx)
{
	const struct profile_stack_file *files = ctx;
	const struct catalog_file *a = files[*(const uint32_t *)x].file;
	const struct catalog_file *b = files[*(const uint32_t *)y].file;

	if (a->dir != b->dir)
		return a->dir < b->dir ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int list_files(struct reading *r)
{
	struct profile_build *b = r->b;

	r->files = arena_calloc(&b->p->arena, b->nr_picks + 1, sizeof(*r->files));
	if (!r->files)
		return -ENOMEM;
	for (size_t i = 0; i < b->nr_picks; i++)
		r->files[r->nr_files++] =
			(struct profile_stack_file){ .file = b->picks[i].file,
						     .app = b->picks[i].app,
						     .class = b->picks[i].class };
	qsort(r->files, r->nr_files, sizeof(*r->files), compare_files);
	return 0;
}

static int read_files(struct reading *r)
{
	CLEANUP(free_ptr) uint32_t *order = calloc(r->nr_files + 1, sizeof(*order));
	int rc = 0;

	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->nr_files; i++)
		order[i] = i;
	qsort_r(order, r->nr_files, sizeof(*order), compare_dirs, r->files);
	for (size_t i = 0, end; i < r->nr_files && !rc; i = end) {
		for (end = i + 1; end < r->nr_files; end++)
			if (r->files[order[end]].file->dir !=
			    r->files[order[i]].file->dir)
				break;
		rc = read_session(r, order + i, end - i);
	}
	return rc ? rc : add_rest(r);
}

/* ---- the whole */

/* Sorted by file, which they are within a session. */
static struct profile_stack *sort_stacks(struct reading *r, struct arena *arena)
{
	CLEANUP(free_ptr) size_t *at = calloc(r->nr_files + 2, sizeof(*at));
	struct profile_stack *out = arena_calloc(arena, r->stacks.len + 1, sizeof(*out));

	if (!at || !out)
		return NULL;
	vec_for(&r->stacks, s)
		at[s->file + 1]++;
	for (size_t i = 0; i < r->nr_files; i++)
		at[i + 1] += at[i];
	vec_for(&r->stacks, s)
		out[at[s->file]++] = *s;
	return out;
}

static int keep(struct reading *r)
{
	struct arena *arena = &r->b->p->arena;
	struct profile_stacks *s = arena_calloc(arena, 1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->frames = (void *)arena_memdup(arena, r->frames.data,
					 r->frames.len * sizeof(*s->frames));
	s->nr_frames = r->frames.len;
	s->files = r->files;
	s->nr_files = r->nr_files;
	s->stacks = sort_stacks(r, arena);
	s->nr_stacks = r->stacks.len;
	r->b->p->stacks = r->b->stacks = s;
	return s->frames && s->stacks ? 0 : -ENOMEM;
}

static bool has_stacks(const struct profile_build *b)
{
	for (size_t i = 0; i < b->nr_picks; i++)
		if (b->picks[i].file->stacks.nr_nodes)
			return true;
	return false;
}

static int read_all(struct reading *r)
{
	const struct profile_frame none = { .image = CATALOG_NO_IMAGE };
	int rc = list_files(r);

	if (!rc && (vec_push(&r->frames, none) || vec_push(&r->depths, 0)))
		rc = -ENOMEM;
	rc = rc ? rc : read_files(r);
	return rc ? rc : keep(r);
}

int profile_read_stacks(struct profile_build *b)
{
	CLEANUP(reading_fini)
	struct reading r = { .b = b, .several = b->p->cat->nr_dirs > 1 };
	int rc;

	if (!has_stacks(b))
		return 0;
	rc = read_all(&r);
	return rc == -ENOMEM ? profile_no_memory(b) : rc;
}

/* ---- slices */

int profile_slice_stacks(struct profile_build *b, const struct profile_stacks *whole,
			 const uint8_t *keep)
{
	const struct catalog_file *files = b->p->cat->files;
	struct arena *arena = &b->p->arena;
	struct profile_stacks *s = (void *)arena_memdup(arena, whole, sizeof(*whole));
	struct profile_stack *stacks;
	size_t *first;

	stacks = arena_calloc(arena, whole->nr_stacks + 1, sizeof(*stacks));
	first = arena_calloc(arena, 2 * b->p->cat->nr_files + 2, sizeof(*first));
	if (!s || !stacks || !first)
		return profile_no_memory(b);
	s->stacks = stacks;
	s->nr_stacks = 0;
	for (size_t i = 0; i < whole->nr_stacks; i++) {
		size_t file = (size_t)(whole->files[whole->stacks[i].file].file - files);

		if (!keep[i])
			continue;
		if (!first[2 * file + 1])
			first[2 * file] = s->nr_stacks;
		stacks[s->nr_stacks++] = whole->stacks[i];
		first[2 * file + 1] = s->nr_stacks;
	}
	b->first_stack = first;
	b->p->stacks = b->stacks = s;
	return 0;
}

int profile_slice_nodes(const struct profile_build *b, const struct catalog_file *file,
			profile_nodes_visit visit, void *ctx)
{
	const size_t *range = b->first_stack + 2 * (file - b->p->cat->files);
	struct spec_sample_node block[BLOCK_NODES];
	size_t nr = 0;
	int rc = 0;

	for (size_t i = range[0]; i < range[1] && !rc; i++) {
		const struct profile_stack *s = &b->stacks->stacks[i];
		const struct profile_frame *f = &b->stacks->frames[s->frame];
		uint64_t left = s->samples;

		while (left && !rc) {
			uint32_t some = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;

			block[nr++] = (struct spec_sample_node){
				.key = f->image == file->image ? spec_stack_off(f->off)
							       : NOWHERE,
				.value = some,
			};
			left -= some;
			if (nr == BLOCK_NODES) {
				rc = visit(ctx, block, nr);
				nr = 0;
			}
		}
	}
	return nr && !rc ? visit(ctx, block, nr) : rc;
}

uint32_t profile_frame_app(const struct profile_stack_file *f,
			   const struct profile_frame *frame, const struct catalog *cat)
{
	const struct catalog_image *img = &cat->images[frame->image];
	bool filed = img->label || (img->kernel ? f->kernel : f->lib);

	/* the kernel filed by itself does not tell whose stacks these were */
	if (!filed || (cat->images[f->file->app].kernel && !img->kernel))
		return frame->image;
	return f->file->app;
}

uint64_t profile_frame_off(const struct profile *p, const struct profile_frame *frame)
{
	const struct sym_table *table = p->images[frame->image].table;
	uint64_t off = spec_stack_off(frame->off);

	if (!(frame->off & SPEC_STACK_EXACT) && off)
		off--;
	return off + (table ? table->text_off : 0);
}
