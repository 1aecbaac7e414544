/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/suggest.h"

#include <ctype.h>
#include <stdbool.h>
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
	unsigned rows[3][EDIT_DISTANCE_MAX + 1]; /* of the last three bytes of @a */
	size_t nb = strnlen(b, most), i;

	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = (unsigned)j;
	for (i = 1; i <= most && a[i - 1]; i++) {
		const unsigned *before = rows[(i + 1) % 3], *last = rows[(i + 2) % 3];
		unsigned *row = rows[i % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			row[j] = min3(last[j] + 1, row[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = min3(row[j], before[j - 2] + 1, row[j]);
		}
	}
	return rows[(i - 1) % 3][nb];
}

/* False: too long to be compared. */
static bool fold(const char *name, char out[EDIT_DISTANCE_MAX + 1])
{
	size_t len = strlen(name);

	for (size_t i = 0; i <= len && len <= EDIT_DISTANCE_MAX; i++)
		out[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	return len <= EDIT_DISTANCE_MAX;
}

unsigned typo_distance(const char *typed, const char *name)
{
	char a[EDIT_DISTANCE_MAX + 1], b[EDIT_DISTANCE_MAX + 1];
	unsigned far;

	if (strlen(typed) >= 3 && strcasestr(name, typed))
		return 1;
	if (!fold(typed, a) || !fold(name, b))
		return TYPO_FAR;
	far = edit_distance(a, b, EDIT_DISTANCE_MAX);
	return far <= (strlen(typed) + 2) / 3 ? far : TYPO_FAR;
}

void nearest_offer(struct nearest *n, const char *name)
{
	unsigned far = typo_distance(n->typed, name);

	if (far != TYPO_FAR && (!n->name || far < n->far))
		*n = (struct nearest){ n->typed, name, far };
}

void nearest_tell(const struct nearest *n, const char *before, struct strbuf *out)
{
	if (n->name)
		strbuf_printf(out, ": did you mean \"%s%s\"?", before, n->name);
}

/* A name that contains what was typed is nearer than any that only looks like it. */
static unsigned unlikeness(const char *name, const char *typed)
{
	unsigned far = edit_distance(typed, name, SUGGEST_MAX);

	return *typed && strcasestr(name, typed) ? far : SUGGEST_MAX + far;
}

void nearest_tell_all(const struct nearest *n, struct strbuf *out)
{
	nearest_tell(n, "", out);
	strbuf_puts(out, n->name ? " There are" : "; there are");
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

const char *instead_of(const struct instead *table, const char *typed)
{
	for (; table && table->text; table++)
		for (int i = 0; i < 2; i++)
			if (table->typed[i] && !strcmp(table->typed[i], typed))
				return table->text;
	return NULL;
}
