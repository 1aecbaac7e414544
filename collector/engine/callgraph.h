/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_CALLGRAPH_H
#define COLLECTOR_ENGINE_CALLGRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/* Whether and how stacks are recorded: what --callgraph says. */

enum coll_callgraph_how {
	COLL_NO_STACKS,
	COLL_BY_FRAME_POINTERS,
	COLL_BY_DWARF, /* by unwind tables, from copies of stacks */
};

/* What perf can copy of a stack: a record has 16 bits for its size. */
enum { COLL_MIN_COPY = 512, COLL_MAX_COPY = 65528 };

struct coll_callgraph {
	enum coll_callgraph_how how;
	uint32_t frames;     /* of a stack, at most; 0: as many as can be had */
	uint32_t copy_bytes; /* of each stack; 0: what buffers have room for */
};

/**
 * coll_callgraph_parse - FRAMES, fp[,FRAMES] or dwarf[,SIZE[,FRAMES]]
 * @arg: NULL: -g alone, which leaves what was said before
 * @out: changed only if all of it is right
 * Returns 0 or -EINVAL.
 */
int coll_callgraph_parse(const char *arg, struct coll_callgraph *out, struct err *err);

/* Begins it with fp or dwarf? */
bool coll_callgraph_is_named(const char *text);

/* Writes it as it would be given: "0" for no stacks, "fp", "dwarf,32768". */
void coll_callgraph_print(const struct coll_callgraph *c, struct strbuf *out);

#endif
