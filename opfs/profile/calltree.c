/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/calltree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "opfs/profile/profile.h"
#include "opfs/profile/stack_choice.h"
#include "opfs/profile/stacks.h"

#define LEFT_OUT UINT32_MAX

struct building {
	const struct profile *p;
	const struct profile_stacks *s;
	const struct calltree_options *o;
	const struct viewer *v;
	struct calltree *t;
	VEC(struct calltree_node) nodes;
	struct map_u64 children; /* parent and function -> node */
	struct stack_choice choice;
	uint32_t *node_of;   /* of each frame; of stacks as they are */
	uint32_t *leaf_of;   /* of each stack, or LEFT_OUT */
	uint32_t *same_as;   /* of each function: which one stands for it */
	struct calltree old; /* of the older side */
	uint32_t *old_node;  /* of each of its nodes: the node here */
};

static void building_fini(struct building *b)
{
	vec_fini(&b->nodes);
	map_u64_fini(&b->children);
	stack_choice_fini(&b->choice);
	free(b->node_of);
	free(b->leaf_of);
	free(b->same_as);
	free(b->old_node);
	calltree_fini(&b->old);
}

/* ---- nodes */

/* The node of a function below another one.  0 or -ENOMEM. */
static int child_of(struct building *b, uint32_t parent, uint32_t func, uint32_t *out)
{
	const struct calltree_node node = { .parent = parent, .func = func };
	uint64_t key = (uint64_t)parent << 32 | func, at;

	if (map_u64_get(&b->children, key, &at)) {
		*out = (uint32_t)at;
		return 0;
	}
	if (b->nodes.len * b->t->nr_classes >= CALLTREE_MAX_SUMS ||
	    b->nodes.len >= CALLTREE_MAX_NODES)
		return -E2BIG;
	if (vec_push(&b->nodes, node))
		return -ENOMEM;
	*out = (uint32_t)b->nodes.len - 1;
	return map_u64_set(&b->children, key, *out);
}

static uint32_t func_of(const struct building *b, uint32_t frame)
{
	return b->same_as[b->s->frames[frame].func];
}

static bool is_chosen(const struct building *b, size_t stack)
{
	return (!b->o->stacks || b->o->stacks[stack]) &&
	       stack_choice_has(&b->choice, &b->s->stacks[stack]);
}

/* Callers first: frames are in that order already. */
static int add_stacks(struct building *b)
{
	const struct profile_frame *frames = b->s->frames;
	int rc = 0;

	b->node_of = calloc(b->s->nr_frames + 1, sizeof(*b->node_of));
	if (!b->node_of)
		return -ENOMEM;
	for (size_t i = 0; i < b->s->nr_stacks; i++) {
		uint32_t at = b->s->stacks[i].frame;

		if (!is_chosen(b, i))
			continue;
		b->leaf_of[i] = 0;
		for (; at && !b->node_of[at]; at = frames[at].parent)
			b->node_of[at] = 1;
	}
	for (uint32_t i = 1; i < b->s->nr_frames && !rc; i++)
		if (b->node_of[i] && !(b->o->skips && b->o->skips[i]))
			rc = child_of(b, b->node_of[frames[i].parent], func_of(b, i),
				      &b->node_of[i]);
		else
			b->node_of[i] = 0;
	for (size_t i = 0; i < b->s->nr_stacks && !rc; i++)
		if (b->leaf_of[i] != LEFT_OUT)
			b->leaf_of[i] = b->node_of[b->s->stacks[i].frame];
	return rc;
}

static int add_inverted(struct building *b)
{
	int rc = 0;

	for (size_t i = 0; i < b->s->nr_stacks && !rc; i++) {
		uint32_t at = b->s->stacks[i].frame, node = 0;

		if (!is_chosen(b, i))
			continue;
		for (uint32_t k = 0; k < b->o->skip; k++)
			at = b->s->frames[at].parent;
		for (; at && !rc; at = b->s->frames[at].parent)
			rc = child_of(b, node, func_of(b, at), &node);
		b->leaf_of[i] = node;
		if (!rc && i % 1024 == 0 && viewer_gone(b->v))
			rc = -EINTR;
	}
	return rc;
}

/* ---- samples */

/* Of each node for each class: 0.  NULL: out of memory. */
static uint64_t *new_sums(struct building *b)
{
	return arena_calloc(&b->t->arena, b->nodes.len,
			    b->t->nr_classes * sizeof(uint64_t));
}

/* Two nodes of the older side may be one here: functions that only their images' paths
 * tell apart. */
static int add_old_samples(struct building *b)
{
	struct calltree *t = b->t;
	size_t nr = t->nr_classes;
	uint64_t *self = new_sums(b), *total = new_sums(b);

	if (!self || !total)
		return -ENOMEM;
	for (size_t i = 0; i < b->old.nr_nodes; i++)
		for (size_t c = 0; c < nr && c < b->old.nr_classes; c++) {
			size_t from = i * b->old.nr_classes + c;
			size_t to = b->old_node[i] * nr + c;

			self[to] += b->old.self[from];
			total[to] += b->old.total[from];
		}
	t->was_self = self;
	t->was_total = total;
	return 0;
}

static int add_samples(struct building *b)
{
	struct calltree *t = b->t;
	size_t nr = t->nr_classes;
	uint64_t *self = new_sums(b), *total = new_sums(b);

	if (!self || !total)
		return -ENOMEM;
	for (size_t i = 0; i < b->s->nr_stacks; i++) {
		const struct profile_stack *s = &b->s->stacks[i];

		if (b->leaf_of[i] != LEFT_OUT)
			self[b->leaf_of[i] * nr +
			     (nr == 1 ? 0 : b->s->files[s->file].class)] += s->samples;
	}
	memcpy(total, self, b->nodes.len * nr * sizeof(*self));
	for (size_t i = b->nodes.len; i-- > 1;)
		for (size_t c = 0; c < nr; c++)
			total[b->nodes.data[i].parent * nr + c] += total[i * nr + c];
	t->self = self;
	t->total = total;
	return b->o->was ? add_old_samples(b) : 0;
}

/* ---- functions, and the order of siblings */

static int compare_funcs(const void *x, const void *y, void *ctx)
{
	const struct calltree_func *funcs = ctx;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int order = strcmp(funcs[a].name, funcs[b].name);

	order = order ? order : strcmp(funcs[a].image, funcs[b].image);
	return order ? order : a < b ? -1 : a > b;
}

/* What both sides of a comparison call a function. */
static int key_of(const struct calltree_func *f, struct strbuf *out)
{
	strbuf_reset(out);
	strbuf_printf(out, "%s\n%s\n%d", basename(f->image), f->name,
		      f->kind == FRAME_INLINED);
	return strbuf_error(out);
}

/* Functions of the older side that are not here yet are added; then its nodes are. */
static int add_old_funcs(struct building *b, struct calltree_func *funcs)
{
	CLEANUP(free_ptr) uint32_t *to = calloc(b->old.nr_funcs + 1, sizeof(*to));
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	CLEANUP(map_fini) struct map known = { 0 };
	int rc = to ? 0 : -ENOMEM;

	for (size_t i = b->t->nr_funcs; i-- > 0 && !rc;) {
		rc = key_of(&funcs[b->same_as[i]], &key);
		rc = rc ? rc : map_set(&known, key.data, key.len, b->same_as[i]);
	}
	for (size_t i = 0; i < b->old.nr_funcs && !rc; i++) {
		uint64_t at = b->t->nr_funcs;

		rc = key_of(&b->old.funcs[i], &key);
		if (!rc && !map_get(&known, key.data, key.len, &at)) {
			funcs[b->t->nr_funcs++] = b->old.funcs[i];
			rc = map_set(&known, key.data, key.len, at);
		}
		to[i] = (uint32_t)at;
	}
	for (size_t i = 1; i < b->old.nr_nodes && !rc; i++) {
		const struct calltree_node *n = &b->old.nodes[i];

		rc = child_of(b, b->old_node[n->parent], to[n->func], &b->old_node[i]);
	}
	return rc;
}

static int build_old(struct building *b, struct err *err)
{
	struct calltree_options o = *b->o;
	int rc;

	if (!o.was)
		return 0;
	o.was = NULL;
	rc = calltree_build(b->o->was, &o, b->v, &b->old, err);
	if (rc)
		return rc;
	b->old_node = calloc(b->old.nr_nodes, sizeof(*b->old_node));
	return b->old_node ? 0 : -ENOMEM;
}

static int copy_funcs(struct building *b)
{
	struct calltree_func *funcs =
		arena_calloc(&b->t->arena, b->s->nr_funcs + b->old.nr_funcs + 1,
			     sizeof(*funcs));

	if (!funcs)
		return -ENOMEM;
	for (size_t i = 0; i < b->s->nr_funcs; i++) {
		const struct profile_func *f = &b->s->funcs[i];

		funcs[i] = (struct calltree_func){
			.name = f->name,
			.image = f->image == CATALOG_NO_IMAGE
					 ? ""
					 : b->p->cat->images[f->image].shown,
			.kind = f->kind,
		};
	}
	b->t->funcs = funcs;
	b->t->nr_funcs = b->s->nr_funcs;
	return b->o->was ? add_old_funcs(b, funcs) : 0;
}

/* Nodes by function, last function first; each is then put in front of its siblings. */
static int link_nodes(struct building *b)
{
	size_t nr_funcs = b->t->nr_funcs, nr = b->nodes.len;
	CLEANUP(free_ptr) uint32_t *by_name = calloc(nr_funcs + 1, sizeof(uint32_t));
	CLEANUP(free_ptr) uint32_t *rank = calloc(nr_funcs + 1, sizeof(uint32_t));
	CLEANUP(free_ptr) uint32_t *at = calloc(nr_funcs + 2, sizeof(uint32_t));
	CLEANUP(free_ptr) uint32_t *order = calloc(nr + 1, sizeof(uint32_t));
	struct calltree_node *nodes = b->nodes.data;

	if (!by_name || !rank || !at || !order)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr_funcs; i++)
		by_name[i] = i;
	qsort_r(by_name, nr_funcs, sizeof(*by_name), compare_funcs,
		(void *)(uintptr_t)b->t->funcs);
	for (uint32_t i = 0; i < nr_funcs; i++)
		rank[by_name[i]] = i;
	for (size_t i = 1; i < nr; i++)
		at[rank[nodes[i].func] + 1]++;
	for (size_t i = 0; i < nr_funcs; i++)
		at[i + 1] += at[i];
	for (size_t i = 1; i < nr; i++)
		order[at[rank[nodes[i].func]]++] = (uint32_t)i;
	for (size_t i = nr - 1; i-- > 0;) {
		uint32_t node = order[i], *first = &nodes[nodes[node].parent].first;

		nodes[node].next = *first;
		*first = node;
	}
	return 0;
}

/* Functions that are one have the number of one of them. */
static int join_funcs(struct building *b)
{
	CLEANUP(map_fini) struct map by_name = { 0 };

	b->same_as = calloc(b->s->nr_funcs + 1, sizeof(*b->same_as));
	if (!b->same_as)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->s->nr_funcs; i++) {
		const char *name = b->s->funcs[i].name;
		uint64_t first = i;

		if (b->o->by_name && !map_get(&by_name, name, strlen(name), &first) &&
		    map_set(&by_name, name, strlen(name), i))
			return -ENOMEM;
		b->same_as[i] = (uint32_t)first;
	}
	return 0;
}

/* ---- the whole */

static int build(struct building *b, struct err *err)
{
	const struct calltree_node all = { .func = UINT32_MAX };
	int rc = build_old(b, err);

	rc = rc ? rc : stack_choice_init(&b->choice, b->p);
	if (rc)
		return rc;
	b->leaf_of = calloc(b->s->nr_stacks + 1, sizeof(*b->leaf_of));
	if (!b->leaf_of || vec_push(&b->nodes, all))
		return -ENOMEM;
	for (size_t i = 0; i < b->s->nr_stacks; i++)
		b->leaf_of[i] = LEFT_OUT;
	rc = join_funcs(b);
	rc = rc ? rc : b->o->inverted ? add_inverted(b) : add_stacks(b);
	rc = rc ? rc : copy_funcs(b);
	rc = rc ? rc : add_samples(b);
	rc = rc ? rc : link_nodes(b);
	if (rc)
		return rc;
	b->t->nodes = (void *)arena_memdup(&b->t->arena, b->nodes.data,
					   b->nodes.len * sizeof(*b->nodes.data));
	b->t->nr_nodes = b->nodes.len;
	if (!b->t->nodes)
		return -ENOMEM;
	return viewer_gone(b->v) ? -EINTR : 0;
}

int calltree_build(const struct profile *p, const struct calltree_options *o,
		   const struct viewer *v, struct calltree *out, struct err *err)
{
	CLEANUP(calltree_fini)
	struct calltree t = { .nr_classes = o->sum_classes ? 1 : p->nr_classes };
	CLEANUP(building_fini)
	struct building b = { .p = p, .s = p->stacks, .o = o, .v = v, .t = &t };
	int rc = build(&b, err);

	if (rc == -EINTR)
		return err_set(err, rc, "interrupted: nobody waits for this any more");
	if (rc == -E2BIG)
		return err_set(err, rc,
			       "the call tree has too many nodes: choose a part with "
			       "image:, event:, calls: or through:");
	if (rc)
		return err_set(err, rc, "out of memory while adding up stacks");
	*out = TAKE(t);
	return 0;
}

void calltree_fini(struct calltree *t)
{
	arena_fini(&t->arena);
	*t = (struct calltree){ 0 };
}
