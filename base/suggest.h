/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/names.h"
#include "base/strbuf.h"

/* Bytes to change, add, drop or swap with the next one: Damerau's distance of the first
 * @max bytes. */
enum { EDIT_DISTANCE_MAX = 96, SUGGEST_MAX = 64 /* names_suggest()'s */ };
unsigned edit_distance(const char *a, const char *b, size_t max);

/*
 * How many mistakes make @typed of @name, or TYPO_FAR if that is not likely: a third of
 * the letters may be wrong, a part of a name counts as one mistake, and capital letters
 * and _ for - as none.
 */
enum { TYPO_FAR = 1000 };
unsigned typo_distance(const char *typed, const char *name);

/* The name, of all that are offered, that was most likely meant. */
struct nearest {
	const char *typed; /* set by the caller, the rest is zero */
	const char *name;  /* NULL: none is near enough */
	unsigned far;
};
/* @name is kept; of equals the first one is taken. */
void nearest_offer(struct nearest *n, const char *name);
/* Appends ': did you mean "NAME"?', with @before in front of NAME, if there is one. */
void nearest_tell(const struct nearest *n, const char *before, struct strbuf *out);
/* The same, and "there are" as the beginning of a list of all. */
void nearest_tell_all(const struct nearest *n, struct strbuf *out);

/* Words of other programs that are none here, and what to write instead; a row without
 * ends a table. */
struct instead {
	const char *typed[2]; /* the second may be NULL */
	const char *text;
};
/* What to write instead of @typed, or NULL.  @table may be NULL. */
const char *instead_of(const struct instead *table, const char *typed);

/* "NAME, NAME ... (12 more)", the nearest to @typed first. */
void names_suggest(const struct names *n, const char *typed, struct strbuf *out);

#endif
