/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_EXPORT_FOLDED_H
#define OPFS_REPORT_EXPORT_FOLDED_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "opfs/profile/calltree.h"

/* Stacks as lines of text, "main;parse;lex 12": the format of stackcollapse.pl. */

struct folded_line {
	const char *stack;
	uint64_t samples;
};

struct folded {
	VEC(struct folded_line) lines;
	size_t bytes; /* of all @stack */
	struct arena text;
};

/* The name of a function as lines have it.  0 or -ENOMEM. */
int folded_name(const struct calltree_func *func, struct strbuf *out);
/* Adds a stack.  0 or -ENOMEM. */
int folded_add(struct folded *f, const struct strbuf *stack, uint64_t samples);
/* Appends all lines, by the bytes of their stacks; those of equal stacks are one. */
void folded_write(struct folded *f, struct strbuf *out);
void folded_fini(struct folded *f); /* accepts a zeroed one */

#endif
