/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* A list of names, each on the heap. */
struct names {
	char **data;
	size_t len, cap;
};
/* Adds a copy.  0 or -ENOMEM. */
int names_add(struct names *n, const char *name);
/* Sorts by bytes and drops duplicates. */
void names_sort(struct names *n);
bool names_has(const struct names *n, const char *name);
void names_fini(struct names *n);

#endif
