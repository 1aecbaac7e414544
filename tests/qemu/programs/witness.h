/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_WITNESS_H
#define TESTS_WITNESS_H

/*
 * What is on the stack of innermost() of witness.c while it works, in words from its
 * stack pointer on.  The two counters are in registers too (rbp and rbx, or x29 and x30),
 * which are at most one ahead of memory.  Return addresses are at every other word: into
 * middle(), into outermost(), and into what called that.
 */
#define WITNESS_MAGIC 0x5a17e55e5a17e55e
enum { WITNESS_FP = 1, WITNESS_OTHER = 2, WITNESS_CALLER = 5, WITNESS_WORDS = 10 };

#endif
