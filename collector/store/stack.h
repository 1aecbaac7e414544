/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_STACK_H
#define COLLECTOR_STORE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/rec/rec.h"
#include "collector/who/images.h"
#include "libspec/stack/stack_format.h"

/* A sample's stack, before it is in a table. */

struct coll_frame {
	const struct coll_image
		*image; /* NULL: none, and @off says why: enum spec_stack_end */
	uint64_t off;   /* as in struct spec_stack_node */
};

/* With the sampled frame, and the end. */
enum { COLL_MAX_STACK = COLL_MAX_FRAMES + 2 };

/* Of threads: CPUs sample others by turns. */
enum { COLL_STACK_LANES = 8 };

struct coll_stack {
	size_t nr;
	size_t lane;      /* any number: most of a stack is as the last of its lane */
	uint32_t unknown; /* callers that are in no known mapping */
	bool called;      /* a caller is known */
	struct coll_frame frames[COLL_MAX_STACK]; /* the sampled one first */
};

#endif
