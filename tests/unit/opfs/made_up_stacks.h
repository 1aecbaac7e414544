/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_MADE_UP_STACKS_H
#define TESTS_UNIT_OPFS_MADE_UP_STACKS_H

#include "base/arena.h"
#include "base/err.h"
#include "opfs/profile/calltree.h"

/*
 * Trees from folded stacks, a line each: "main;parse;lex 12", and for a comparison
 * "main;parse;lex 12 15", the second number being the older side's.  A frame is of the
 * program; "NAME@IMAGE" is of a library, "NAME_[k]" of the kernel, "NAME_[m]" of memory,
 * and "[REASON]" is none.  Empty lines are none.
 */
struct made_up_stacks {
	struct arena memory;
	struct calltree tree;
};

/* 0, or -errno, -EINVAL for what is no such line.  Ends if memory does. */
int made_up_stacks_init(struct made_up_stacks *f, const char *text, struct err *err);
void made_up_stacks_fini(struct made_up_stacks *f);

#endif
