/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/opfs/made_up_stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/vec.h"

struct builder {
	struct arena *memory;
	VEC(struct calltree_node) nodes;
	VEC(struct calltree_func) funcs; /* of node i: i - 1 */
	VEC(uint64_t) self;
	VEC(uint64_t) was;
};

#define MUST(expression)                                                                 \
	({                                                                               \
		if (expression)                                                          \
			abort();                                                         \
	})

static void builder_fini(struct builder *b)
{
	vec_fini(&b->nodes);
	vec_fini(&b->funcs);
	vec_fini(&b->self);
	vec_fini(&b->was);
}

/* What a frame says of its kind is cut off its name. */
static struct calltree_func func_of(struct arena *memory, const char *frame, size_t len)
{
	char *name = arena_memdup(memory, frame, len);
	char *image = name ? strrchr(name, '@') : NULL;
	struct calltree_func f = { name, "/bin/app", FRAME_PROGRAM };

	MUST(!name);
	if (*name == '[')
		return (struct calltree_func){ name, "", FRAME_NONE };
	if (image) {
		*image = '\0';
		return (struct calltree_func){ name, image + 1, FRAME_LIBRARY };
	}
	if (len > 4 && !strcmp(name + len - 4, "_[k]"))
		f = (struct calltree_func){ name, "kernel", FRAME_KERNEL };
	else if (len > 4 && !strcmp(name + len - 4, "_[m]"))
		f = (struct calltree_func){ name, "anon (tgid:7)", FRAME_MEMORY };
	else
		return f;
	name[len - 4] = '\0';
	return f;
}

static int compare(const struct calltree_func *a, const struct calltree_func *b)
{
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->image, b->image);
}

static uint32_t add_node(struct builder *b, struct calltree_node n)
{
	MUST(vec_push(&b->nodes, n));
	MUST(vec_push(&b->self, 0));
	MUST(vec_push(&b->was, 0));
	return (uint32_t)b->nodes.len - 1;
}

static uint32_t child_of(struct builder *b, uint32_t parent, struct calltree_func func)
{
	uint32_t before = 0, at = b->nodes.data[parent].first, made;
	int order = 1;

	while (at && (order = compare(&b->funcs.data[at - 1], &func)) < 0) {
		before = at;
		at = b->nodes.data[at].next;
	}
	if (at && !order)
		return at;
	made = add_node(b,
			(struct calltree_node){ parent, (uint32_t)b->funcs.len, 0, at });
	MUST(vec_push(&b->funcs, func));
	*(before ? &b->nodes.data[before].next : &b->nodes.data[parent].first) = made;
	return made;
}

/* Cuts the last word off if it is a number. */
static bool take_number(char *text, uint64_t *out)
{
	char *blank = strrchr(text, ' ');

	if (!blank || !number_parse(blank + 1, 10, UINT64_MAX, out))
		return false;
	*blank = '\0';
	return true;
}

static bool add_line(struct builder *b, const char *line, size_t len)
{
	uint64_t now, was = 0, last;
	uint32_t node = 0;
	char *text = arena_memdup(b->memory, line, len);

	MUST(!text);
	if (!take_number(text, &last))
		return false;
	if (take_number(text, &now))
		was = last;
	else
		now = last;
	while (*text) {
		size_t n = strcspn(text, ";");

		node = child_of(b, node, func_of(b->memory, text, n));
		text += n + (text[n] != '\0');
	}
	b->self.data[node] += now;
	b->was.data[node] += was;
	return true;
}

static const uint64_t *keep_sums(struct builder *b, const uint64_t *self, bool inclusive)
{
	size_t nr = b->nodes.len;
	uint64_t *sums = arena_calloc(b->memory, nr, sizeof(*sums));

	MUST(!sums);
	memcpy(sums, self, nr * sizeof(*sums));
	for (size_t i = nr - 1; i && inclusive; i--)
		sums[b->nodes.data[i].parent] += sums[i];
	return sums;
}

static const void *keep(struct builder *b, const void *data, size_t n, size_t size)
{
	void *copy = arena_calloc(b->memory, n + 1, size);

	MUST(!copy);
	if (n)
		memcpy(copy, data, n * size);
	return copy;
}

int made_up_stacks_init(struct made_up_stacks *f, const char *text, struct err *err)
{
	struct builder b = { .memory = &f->memory };
	int rc = 0;

	*f = (struct made_up_stacks){ 0 };
	add_node(&b, (struct calltree_node){ .func = UINT32_MAX });
	for (size_t line = 1; *text && !rc; line++) {
		size_t len = strcspn(text, "\n");

		if (len && !add_line(&b, text, len))
			rc = err_set(err, -EINVAL, "line %zu: no \"a;b;c 12\"", line);
		text += len + (text[len] != '\0');
	}
	f->tree = (struct calltree){
		.nodes = keep(&b, b.nodes.data, b.nodes.len, sizeof(*b.nodes.data)),
		.nr_nodes = b.nodes.len,
		.funcs = keep(&b, b.funcs.data, b.funcs.len, sizeof(*b.funcs.data)),
		.nr_funcs = b.funcs.len,
		.nr_classes = 1,
		.self = keep_sums(&b, b.self.data, false),
		.total = keep_sums(&b, b.self.data, true),
		.was_self = keep_sums(&b, b.was.data, false),
		.was_total = keep_sums(&b, b.was.data, true),
	};
	builder_fini(&b);
	return rc;
}

void made_up_stacks_fini(struct made_up_stacks *f)
{
	arena_fini(&f->memory);
}
