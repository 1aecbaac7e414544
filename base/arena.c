/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LAST_BLOCK = 256 * 1024 };

struct arena_block {
	struct arena_block *next;
	size_t size; /* bytes of data */
	alignas(max_align_t) char data[];
};

void arena_fini(struct arena *a)
{
	while (a->blocks) {
		struct arena_block *next = a->blocks->next;

		free(a->blocks);
		a->blocks = next;
	}
	*a = (struct arena){ 0 };
}

static struct arena_block *block_new(struct arena *a, size_t size)
{
	struct arena_block *b;
	size_t bytes;

	if (__builtin_add_overflow(size, sizeof(*b), &bytes))
		return NULL;
	b = calloc(1, bytes);
	if (!b)
		return NULL;
	b->size = size;
	a->total += bytes;
	return b;
}

/* What is large gets a block of its own, behind the newest, which stays in use. */
static void *alloc_large(struct arena *a, size_t size)
{
	struct arena_block *b = block_new(a, size);

	if (!b)
		return NULL;
	if (a->blocks) {
		b->next = a->blocks->next;
		a->blocks->next = b;
	} else {
		a->blocks = b;
		a->used = size;
	}
	return b->data;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	size_t next_size = FIRST_BLOCK;
	void *p;

	if (!size)
		size = 1;
	if (__builtin_add_overflow(size, alignof(max_align_t) - 1, &size))
		return NULL;
	size &= ~(alignof(max_align_t) - 1);
	if (!b || size > b->size - a->used) {
		if (b && b->size >= FIRST_BLOCK)
			next_size = b->size * 2;
		if (next_size > LAST_BLOCK)
			next_size = LAST_BLOCK;
		if (size > next_size / 4)
			return alloc_large(a, size);
		b = block_new(a, next_size);
		if (!b)
			return NULL;
		b->next = a->blocks;
		a->blocks = b;
		a->used = 0;
	}
	p = b->data + a->used;
	a->used += size;
	return p;
}

void *arena_calloc(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return arena_alloc(a, bytes);
}

char *arena_memdup(struct arena *a, const void *data, size_t len)
{
	size_t bytes;
	char *copy;

	if (__builtin_add_overflow(len, 1, &bytes))
		return NULL;
	copy = arena_alloc(a, bytes);
	if (copy && len)
		memcpy(copy, data, len);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_memdup(a, s, strlen(s));
}
