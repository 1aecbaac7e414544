/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_JIT_CODE_H
#define LIBSPEC_JIT_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/* Pieces of code that a process made at run time, and what it calls them. */
struct spec_jit_code {
	uint64_t start, size; /* addresses in the process; never 0 bytes */
	const char *name;     /* in the list's arena; never empty, no control bytes */
};

enum {
	SPEC_JIT_NAME_MAX = 512,     /* bytes of a name; the rest is cut off */
	SPEC_JIT_MAX_CODES = 1 << 20 /* of one process */
};

/* A list of them, in the order in which they were told.  A zeroed one is empty. */
struct spec_jit_list {
	VEC(struct spec_jit_code) codes;
	struct arena names;
	uint64_t bad;      /* what was to be an entry and is none */
	uint64_t too_many; /* entries behind the last that has room */
	uint64_t cut;      /* names that were too long */
};

void spec_jit_list_fini(struct spec_jit_list *l);

/**
 * spec_jit_add - takes an entry
 * @name: @len bytes that need not be text; copied without blanks before it,
 *	control bytes become '?'
 * One that is no code (empty, or beyond the end of memory) or has no name is counted in
 * @bad, one too many in @too_many.  0 or -ENOMEM.
 */
int spec_jit_add(struct spec_jit_list *l, uint64_t start, uint64_t size, const char *name,
		 size_t len);

/* The same with a name that the list has, which is not copied.  So a list costs the text
 * that it was made of, and at most 60 bytes an entry. */
int spec_jit_add_same(struct spec_jit_list *l, uint64_t start, uint64_t size,
		      const char *name);

/**
 * spec_jit_settle - sorts by address and cuts overlaps: the last that was told wins
 * What is left of an entry on both sides of a later one becomes two of the same name.
 * @overlapped: how many entries lost bytes to later ones; may be NULL
 * 0 or -ENOMEM.
 */
int spec_jit_settle(struct spec_jit_list *l, uint64_t *overlapped);

#endif
