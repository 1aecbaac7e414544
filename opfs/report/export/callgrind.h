/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_EXPORT_CALLGRIND_H
#define OPFS_REPORT_EXPORT_CALLGRIND_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"

/*
 * A profile in the format of callgrind: functions, what each cost by address, and what
 * its calls cost.  Source: valgrind's manual, "Callgrind Format Specification".
 */
struct callgrind_function {
	const char *name; /* as it is written */
	uint32_t image, object;
	uint64_t entry; /* its address; 0: unknown */
};

struct callgrind_cost {
	uint32_t function, callee; /* CALLGRIND_SELF: not of a call */
	uint64_t address;
	size_t values; /* index of the first of one a column */
};

#define CALLGRIND_SELF UINT32_MAX
#define CALLGRIND_NO_IMAGE UINT32_MAX

struct callgrind {
	struct arena arena;
	VEC(struct callgrind_function) functions;
	VEC(struct callgrind_cost) costs;
	VEC(uint64_t) values;
	VEC(const char *) objects;
	struct map by_name; /* of an image -> function */
	struct map images;  /* name -> image, or that there are several */
	struct map by_cost, by_object;
	size_t nr_columns;
};

void callgrind_fini(struct callgrind *c); /* accepts a zeroed one */

/* The name of an event as the format allows it: letters, digits and _. */
void callgrind_event(struct strbuf *out, const char *name);

/**
 * callgrind_function - adds a function, unless it is there
 * @object: the name of @image, which is CALLGRIND_NO_IMAGE for what is no code
 * Those of one name and image are one.  *out is its number.  0 or -ENOMEM.
 */
int callgrind_function(struct callgrind *c, const char *name, uint32_t image,
		       const char *object, uint64_t entry, uint32_t *out);

/* Whoever writes a table of stacks can make as many costs as he likes. */
#define CALLGRIND_MAX_VALUES (4u << 20)

/* Adds a cost.  @callee: CALLGRIND_SELF, or the function whose call at @address it is of.
 * 0, -ENOMEM, or -E2BIG: there are too many. */
int callgrind_add(struct callgrind *c, uint32_t function, uint32_t callee,
		  uint64_t address, size_t column, uint64_t value);

/* Appends the body of the file; 0, -ENOMEM, or -E2BIG: it is larger than
 * EXPORT_MAX_BYTES. */
int callgrind_write(struct callgrind *c, struct strbuf *out);

#endif
