/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

/*
 * Memory that is given back all at once.  A zeroed arena is empty.  What it hands out
 * is aligned for any type, zeroed, and lives until arena_fini().
 */
struct arena_block;
struct arena {
	struct arena_block *blocks;
	size_t used;  /* bytes of the newest block in use */
	size_t total; /* bytes taken from the heap: what this arena costs */
};

void arena_fini(struct arena *a);
/* @size zeroed bytes, or NULL if out of memory. */
void *arena_alloc(struct arena *a, size_t size);
/* @n zeroed elements of @size bytes; NULL on overflow or out of memory. */
void *arena_calloc(struct arena *a, size_t n, size_t size);
/* A copy of @len bytes and a NUL behind it. */
char *arena_memdup(struct arena *a, const void *data, size_t len);
char *arena_strdup(struct arena *a, const char *s);

#endif
