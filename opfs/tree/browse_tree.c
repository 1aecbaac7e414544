/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/browse_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/vec.h"
#include "libspec/name/glob.h"
#include "opfs/profile/calltree.h"

struct browse_tree *browse_tree_get(struct browse_tree *t)
{
	if (t)
		__atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
	return t;
}

void browse_tree_put(struct browse_tree *t)
{
	if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		return;
	map_fini(&t->by_name);
	arena_fini(&t->arena);
	free(t);
}

static void put_tree(struct browse_tree **t)
{
	browse_tree_put(*t);
}

/* ---- names */

struct key {
	uint32_t parent;
	const char *name;
};

static int with_key(struct key k, struct strbuf *out)
{
	strbuf_reset(out);
	strbuf_add(out, &k.parent, sizeof(k.parent));
	strbuf_puts(out, k.name);
	return strbuf_error(out);
}

static int index_names(struct browse_tree *t)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };

	for (size_t i = 1; i < t->nr_nodes; i++) {
		const struct browse_node *n = &t->nodes[i];

		if (with_key((struct key){ n->parent, t->listed[n->name] }, &key) ||
		    map_set(&t->by_name, key.data, key.len, i))
			return -ENOMEM;
	}
	t->bytes = sizeof(*t) + t->arena.total + t->by_name.cap * 64;
	return 0;
}

static int add_names(struct browse_tree *t, const struct calltree *from,
		     bool (*is_ours)(void *ctx, const char *listed), void *ctx)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const char **names = arena_calloc(&t->arena, from->nr_funcs + 1, sizeof(*names));
	const char **listed =
		arena_calloc(&t->arena, from->nr_funcs + 1, sizeof(*listed));

	if (!names || !listed)
		return -ENOMEM;
	for (size_t i = 0; i < from->nr_funcs; i++) {
		const char *name = from->funcs[i].name;
		size_t len;

		strbuf_reset(&text);
		spec_listed(name, false, name, &text);
		len = text.len;
		if (len && is_ours(ctx, text.data)) {
			escape_put(&text, (unsigned char)text.data[0]);
			strbuf_add(&text, text.data + 1, len - 1);
		} else {
			len = 0;
		}
		names[i] = arena_strdup(&t->arena, name);
		listed[i] = arena_strdup(&t->arena, strbuf_str(&text) + len);
		if (strbuf_error(&text) || !names[i] || !listed[i])
			return -ENOMEM;
	}
	t->names = names;
	t->listed = listed;
	t->nr_names = from->nr_funcs;
	return 0;
}

/* ---- nodes */

static int copy_nodes(struct browse_tree *t, const struct calltree *from)
{
	struct browse_node *nodes =
		arena_calloc(&t->arena, from->nr_nodes + 1, sizeof(*nodes));

	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < from->nr_nodes; i++) {
		const struct calltree_node *n = &from->nodes[i];

		nodes[i] = (struct browse_node){
			.parent = n->parent,
			.first = n->first,
			.next = n->next,
			.name = i ? n->func : 0,
			.total = from->total[i],
			.self = from->self[i],
		};
	}
	t->nodes = nodes;
	t->nr_nodes = from->nr_nodes;
	return 0;
}

/* Of each function what is in nodes that have it and no node of it above. */
struct flat {
	struct browse_tree *t;
	struct browse_node *nodes;
	uint32_t *of_func, *running;
};

static void flat_fini(struct flat *f)
{
	free(f->of_func);
	free(f->running);
}

static void enter(struct flat *f, const struct calltree *from, uint32_t at)
{
	uint32_t func = from->nodes[at].func;
	struct browse_node *n;

	if (!f->of_func[func]) {
		f->of_func[func] = (uint32_t)f->t->nr_nodes++;
		f->nodes[f->of_func[func]].name = func;
	}
	if (f->running[func]++)
		return;
	n = &f->nodes[f->of_func[func]];
	n->total += from->total[at];
	n->self += from->self[at];
}

/* Depth first, without recursion of our own. */
static void enter_all(struct flat *f, const struct calltree *from)
{
	uint32_t at = from->nodes[0].first;

	while (at) {
		enter(f, from, at);
		if (from->nodes[at].first) {
			at = from->nodes[at].first;
			continue;
		}
		for (;;) {
			f->running[from->nodes[at].func]--;
			if (from->nodes[at].next) {
				at = from->nodes[at].next;
				break;
			}
			at = from->nodes[at].parent;
			if (!at)
				return;
		}
	}
}

static int compare_names(const void *x, const void *y, void *ctx)
{
	const struct browse_node *a = x, *b = y;
	const struct browse_tree *t = ctx;

	return strcmp(t->names[a->name], t->names[b->name]);
}

/* Every function once: they are the children of node 0. */
static int flat_nodes(struct browse_tree *t, const struct calltree *from)
{
	CLEANUP(flat_fini) struct flat f = { .t = t };

	f.of_func = calloc(from->nr_funcs + 1, sizeof(*f.of_func));
	f.running = calloc(from->nr_funcs + 1, sizeof(*f.running));
	f.nodes = arena_calloc(&t->arena, from->nr_funcs + 2, sizeof(*f.nodes));
	if (!f.of_func || !f.running || !f.nodes)
		return -ENOMEM;
	t->nr_nodes = 1;
	f.nodes[0].total = from->total[0];
	enter_all(&f, from);
	qsort_r(f.nodes + 1, t->nr_nodes - 1, sizeof(*f.nodes), compare_names, t);
	for (uint32_t i = 1; i < t->nr_nodes; i++) {
		f.nodes[i].next = i + 1 < t->nr_nodes ? i + 1 : 0;
		f.nodes[0].first = 1;
	}
	t->nodes = f.nodes;
	return 0;
}

int browse_tree_new(const struct profile *p, enum browse_kind kind,
		    const struct browse_after *after,
		    bool (*is_ours)(void *ctx, const char *listed), void *ctx,
		    const struct viewer *v, struct browse_tree **out, struct err *err)
{
	const struct calltree_options how = { .inverted = kind == BROWSE_CALLERS,
					      .sum_classes = true,
					      .by_name = true,
					      .stacks = after ? after->stacks : NULL,
					      .skips = after ? after->skips : NULL,
					      .skip = after ? after->skip : 0 };
	CLEANUP(calltree_fini) struct calltree from = { 0 };
	CLEANUP(put_tree) struct browse_tree *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return err_set(err, -ENOMEM, "out of memory");
	t->refs = 1;
	t->kind = kind;
	t->value = arena_strdup(&t->arena, after ? after->value : "");
	if (!t->value)
		return err_set(err, -ENOMEM, "out of memory");
	rc = calltree_build(p, &how, v, &from, err);
	if (rc)
		return rc;
	rc = add_names(t, &from, is_ours, ctx);
	if (!rc)
		rc = kind == BROWSE_THROUGH ? flat_nodes(t, &from) : copy_nodes(t, &from);
	rc = rc ? rc : index_names(t);
	if (rc)
		return err_set(err, rc, "out of memory");
	*out = TAKE(t);
	return 0;
}

uint32_t browse_tree_child(const struct browse_tree *t, uint32_t at, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	uint64_t found;

	if (!with_key((struct key){ at, name }, &key) &&
	    map_get(&t->by_name, key.data, key.len, &found))
		return (uint32_t)found;
	strbuf_reset(&key);
	spec_decode(name, &key);
	for (at = t->nodes[at].first; at; at = t->nodes[at].next)
		if (!strcmp(t->names[t->nodes[at].name], strbuf_str(&key)))
			return at;
	return 0;
}

void browse_tree_path(const struct browse_tree *t, uint32_t at, struct strbuf *out)
{
	VEC(uint32_t) nodes = { 0 };

	strbuf_puts(out, t->value);
	if (*t->value && at)
		strbuf_putc(out, '/');
	for (; at; at = t->nodes[at].parent)
		if (vec_push(&nodes, at))
			out->failed = true;
	for (size_t i = nodes.len; i-- > 0;)
		strbuf_printf(out, "%s%s", t->listed[t->nodes[nodes.data[i]].name],
			      i ? "/" : "");
	vec_fini(&nodes);
}
