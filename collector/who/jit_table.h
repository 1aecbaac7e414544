/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_JIT_TABLE_H
#define COLLECTOR_WHO_JIT_TABLE_H

#include <stddef.h>

#include "base/strbuf.h"

/**
 * coll_jit_answer_table - answers COLL_ASK_JIT_TABLE, in a helper that then ends
 * @question: a struct coll_jit_fetch with one region, and the path of a jitdump
 * The files are read; then the helper enters a sandbox, and makes the unwind table of the
 * region: of a jitdump's unwinding information, and of the trampolines of CPython.  The
 * answer is the table, keyed by offsets in the region, or nothing if the process tells
 * nothing of the kind.
 */
void coll_jit_answer_table(char *question, size_t len, struct strbuf *out, int *file);

#endif
