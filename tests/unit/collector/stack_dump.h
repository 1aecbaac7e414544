/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_COLLECTOR_STACK_DUMP_H
#define TESTS_COLLECTOR_STACK_DUMP_H

#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/**
 * stack_dump - the stacks of a session as text, a line each, sorted
 * @file: the name of a sample file; NULL: all of them, added up
 * "prog+1030;lib.so+20! 3": the outermost frame first, ! where the address is exact, and
 * "[depth limit]" where there is no image.  0, or -EBADMSG for what is not sound.
 */
int stack_dump(int session_fd, const char *file, struct strbuf *out, struct err *err);

/* Of all files of stacks; 0 without any. */
struct stack_sum {
	uint64_t stacks;
	unsigned excess; /* files with more stacks than the sample file of their name */
};

/* 0, or -EBADMSG for what is not sound. */
int stack_sum(int session_fd, struct stack_sum *out, struct err *err);

#endif
