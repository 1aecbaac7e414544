/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include "base/names.h"
#include "base/strbuf.h"

/* Bytes to change, add or drop: Levenshtein's distance of the first @max bytes. */
enum { EDIT_DISTANCE_MAX = 96, SUGGEST_MAX = 64 /* names_suggest()'s */ };
unsigned edit_distance(const char *a, const char *b, size_t max);

/* "NAME, NAME ... (12 more)", the nearest to @typed first. */
void names_suggest(const struct names *n, const char *typed, struct strbuf *out);

#endif
