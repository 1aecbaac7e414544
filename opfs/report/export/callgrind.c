/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/callgrind.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/report/export/export.h"

/* Where one name has several images. */
#define SEVERAL (UINT64_MAX)

void callgrind_fini(struct callgrind *c)
{
	arena_fini(&c->arena);
	vec_fini(&c->functions);
	vec_fini(&c->costs);
	vec_fini(&c->values);
	vec_fini(&c->objects);
	map_fini(&c->by_name);
	map_fini(&c->images);
	map_fini(&c->by_cost);
	map_fini(&c->by_object);
}

void callgrind_event(struct strbuf *out, const char *name)
{
	if (!isalpha((unsigned char)*name))
		strbuf_putc(out, '_');
	for (; *name; name++)
		strbuf_putc(out, isalnum((unsigned char)*name) ? *name : '_');
}

/* ---- functions */

static int object_of(struct callgrind *c, const char *name, uint32_t *out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t at = c->objects.len;
	const char *copy;

	export_name(&text, name, "");
	if (!map_get(&c->by_object, strbuf_str(&text), text.len, &at)) {
		copy = arena_strdup(&c->arena, strbuf_str(&text));
		if (strbuf_error(&text) || !copy || vec_push(&c->objects, copy) ||
		    map_set(&c->by_object, copy, text.len, at))
			return -ENOMEM;
	}
	*out = (uint32_t)at;
	return 0;
}

static int note_image(struct callgrind *c, const char *name, size_t len, uint32_t image)
{
	uint64_t known;

	if (!map_get(&c->images, name, len, &known))
		return map_set(&c->images, name, len, image);
	return known == image ? 0 : map_set(&c->images, name, len, SEVERAL);
}

int callgrind_function(struct callgrind *c, const char *name, uint32_t image,
		       const char *object, uint64_t entry, uint32_t *out)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct callgrind_function f = { .image = image, .entry = entry };
	uint64_t at = c->functions.len;

	export_name(&key, name, "");
	f.name = arena_strdup(&c->arena, strbuf_str(&key));
	strbuf_add(&key, &image, sizeof(image));
	if (strbuf_error(&key) || !f.name)
		return -ENOMEM;
	if (!map_get(&c->by_name, key.data, key.len, &at)) {
		if (object_of(c, object, &f.object) || vec_push(&c->functions, f) ||
		    map_set(&c->by_name, key.data, key.len, at) ||
		    note_image(c, f.name, strlen(f.name), image))
			return -ENOMEM;
	}
	*out = (uint32_t)at;
	return 0;
}

/* ---- costs */

int callgrind_add(struct callgrind *c, uint32_t function, uint32_t callee,
		  uint64_t address, size_t column, uint64_t value)
{
	struct {
		uint32_t function, callee;
		uint64_t address;
	} key = { function, callee, address };
	struct callgrind_cost cost = { function, callee, address, c->values.len };
	uint64_t at;

	if (map_get(&c->by_cost, &key, sizeof(key), &at)) {
		c->values.data[c->costs.data[at].values + column] += value;
		return 0;
	}
	if (c->values.len >= CALLGRIND_MAX_VALUES)
		return -E2BIG;
	if (vec_reserve(&c->values, c->nr_columns) ||
	    map_set(&c->by_cost, &key, sizeof(key), c->costs.len) ||
	    vec_push(&c->costs, cost))
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_columns; i++)
		c->values.data[c->values.len++] = i == column ? value : 0;
	return 0;
}

/* By function; its own cost before that of calls. */
static int compare_costs(const void *x, const void *y)
{
	const struct callgrind_cost *a = x, *b = y;
	uint32_t first = a->callee + 1, second = b->callee + 1;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (first != second)
		return first < second ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* ---- text */

struct writing {
	const struct callgrind *c;
	struct strbuf *out;
	uint8_t *told, *told_objects; /* whose number has got its name */
	uint8_t *headed;              /* functions that have a block */
	bool has_file;                /* the same of the only one */
};

/* "KEY=(1) NAME", the next time "KEY=(1)": so a name is never taken for a number. */
static void put_name(struct writing *w, const char *key, uint8_t *told, uint32_t number,
		     const char *name)
{
	strbuf_printf(w->out, "%s=(%" PRIu32 ")", key, number + 1);
	if (!told[number]) {
		strbuf_putc(w->out, ' ');
		strbuf_puts(w->out, name);
	}
	told[number] = 1;
	strbuf_putc(w->out, '\n');
}

static void put_object(struct writing *w, const char *key, uint32_t object)
{
	put_name(w, key, w->told_objects, object, w->c->objects.data[object]);
}

/* To callgrind_annotate functions of one name are one, also of several objects: their
 * names then tell the object. */
static int put_function(struct writing *w, const char *key, uint32_t number)
{
	const struct callgrind_function *f = &w->c->functions.data[number];
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	uint64_t image = 0;

	strbuf_puts(&name, f->name);
	map_get(&w->c->images, f->name, strlen(f->name), &image);
	if (image == SEVERAL)
		strbuf_printf(&name, " [%s]", w->c->objects.data[f->object]);
	put_name(w, key, w->told, number, strbuf_str(&name));
	return strbuf_error(&name);
}

static void put_cost(struct writing *w, const struct callgrind_cost *cost)
{
	const uint64_t *values = &w->c->values.data[cost->values];

	strbuf_printf(w->out, "0x%" PRIx64, cost->address);
	for (size_t i = 0; i < w->c->nr_columns; i++) {
		strbuf_putc(w->out, ' ');
		strbuf_number(w->out, values[i], 0);
	}
	strbuf_putc(w->out, '\n');
}

/* How often a function was called is not known: samples of the first event that has any
 * stand for it. */
static int put_call(struct writing *w, const struct callgrind_cost *cost)
{
	const struct callgrind_function *callee = &w->c->functions.data[cost->callee];
	const uint64_t *values = &w->c->values.data[cost->values];
	size_t column = 0;
	int rc;

	if (callee->object != w->c->functions.data[cost->function].object)
		put_object(w, "cob", callee->object);
	rc = put_function(w, "cfn", cost->callee);
	while (!values[column] && column + 1 < w->c->nr_columns)
		column++;
	strbuf_printf(w->out, "calls=%" PRIu64 " 0x%" PRIx64 "\n", values[column],
		      callee->entry);
	put_cost(w, cost);
	return rc;
}

static int put_head(struct writing *w, uint32_t function)
{
	w->headed[function] = 1;
	strbuf_putc(w->out, '\n');
	put_object(w, "ob", w->c->functions.data[function].object);
	strbuf_puts(w->out, w->has_file ? "fl=(1)\n" : "fl=(1) ???\n");
	w->has_file = true;
	return put_function(w, "fn", function);
}

static int put_costs(struct writing *w)
{
	uint32_t before = CALLGRIND_SELF;
	int rc = 0;

	vec_for(&w->c->costs, cost) {
		if (cost->function != before)
			rc = put_head(w, cost->function);
		before = cost->function;
		if (cost->callee == CALLGRIND_SELF)
			put_cost(w, cost);
		else
			rc = rc ? rc : put_call(w, cost);
		if (!rc && w->out->len > EXPORT_MAX_BYTES)
			rc = -E2BIG;
		if (rc)
			break;
	}
	return rc;
}

/* Those that are only called: of these nothing else tells the object. */
static int put_others(struct writing *w)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->c->functions.len && !rc; i++)
		if (w->told[i] && !w->headed[i])
			rc = put_head(w, i);
	return rc;
}

int callgrind_write(struct callgrind *c, struct strbuf *out)
{
	CLEANUP(free_ptr) uint8_t *told = calloc(c->functions.len + 1, 1);
	CLEANUP(free_ptr) uint8_t *told_objects = calloc(c->objects.len + 1, 1);
	CLEANUP(free_ptr) uint8_t *headed = calloc(c->functions.len + 1, 1);
	struct writing w = { c, out, told, told_objects, headed, false };
	int rc;

	if (!told || !told_objects || !headed)
		return -ENOMEM;
	if (c->costs.len)
		qsort(c->costs.data, c->costs.len, sizeof(*c->costs.data), compare_costs);
	rc = put_costs(&w);
	return rc ? rc : put_others(&w);
}
