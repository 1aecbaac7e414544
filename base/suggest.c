/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/suggest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"

enum { MAX_SHOWN = 6, MAX_LIST = 240 };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

unsigned edit_distance(const char *a, const char *b, size_t max)
{
	size_t most = max < EDIT_DISTANCE_MAX ? max : EDIT_DISTANCE_MAX;
	unsigned row[EDIT_DISTANCE_MAX + 1];
	size_t nb = strnlen(b, most);

	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; i < most && a[i]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t j = 1; j <= nb; j++) {
			unsigned above = row[j];

			row[j] = min3(above + 1, row[j - 1] + 1,
				      diagonal + (a[i] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[nb];
}

/* A name that contains what was typed is nearer than any that only looks like it. */
static unsigned unlikeness(const char *name, const char *typed)
{
	unsigned far = edit_distance(typed, name, SUGGEST_MAX);

	return *typed && strcasestr(name, typed) ? far : SUGGEST_MAX + far;
}

struct near {
	const char *name;
	unsigned far;
};

static int compare_near(const void *x, const void *y)
{
	const struct near *a = x, *b = y;

	return a->far != b->far ? (a->far > b->far) - (a->far < b->far)
				: strcmp(a->name, b->name);
}

void names_suggest(const struct names *n, const char *typed, struct strbuf *out)
{
	CLEANUP(free_ptr) struct near *near = calloc(n->len + 1, sizeof(*near));
	size_t start = out->len, shown = 0;

	if (!n->len || !near) {
		strbuf_puts(out, "none");
		return;
	}
	for (size_t i = 0; i < n->len; i++)
		near[i] = (struct near){
			n->data[i], n->len > MAX_SHOWN ? unlikeness(n->data[i], typed) : 0
		};
	if (n->len > MAX_SHOWN)
		qsort(near, n->len, sizeof(*near), compare_near);
	for (; shown < n->len && shown < MAX_SHOWN; shown++) {
		if (shown && out->len - start + strlen(near[shown].name) > MAX_LIST)
			break;
		strbuf_printf(out, "%s%.200s", shown ? ", " : "", near[shown].name);
	}
	if (shown < n->len)
		strbuf_printf(out, " (and %zu more)", n->len - shown);
}
