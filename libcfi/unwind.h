/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_UNWIND_H
#define LIBCFI_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcfi/compile.h"
#include "libcfi/table.h"

/*
 * Finds the callers of a sampled thread from its registers and a copy of its stack.
 * Allocates nothing, calls nothing but @find, reads nothing but the copy and tables.
 */

/* The registers that rules of the machine may be based on. */
struct cfi_regs {
	uint64_t ip;
	uint64_t sp;
	uint64_t fp; /* rbp, x29 */
	uint64_t lr; /* x30; 0 on x86-64 */
	uint64_t bx; /* rbx; 0 on arm64 */
};

/* The bytes that were copied, from the stack pointer on. */
struct cfi_stack {
	uint64_t start;    /* the address of the first byte */
	const void *bytes; /* not aligned */
	size_t size;
	bool whole; /* all that there was: what is above does not exist */
};

/* What is known of the code at an address. */
struct cfi_code {
	const struct cfi_table *table; /* NULL: there is none */
	uint64_t key;                  /* of the address in the table */
	bool unknown;                  /* no executable memory is known there */
};

/* Tells about the code at @ip.  For return addresses @ip is the address less one. */
typedef void (*cfi_find)(void *arg, uint64_t ip, struct cfi_code *out);

/* Why there are no more frames. */
enum cfi_end {
	CFI_END_WHOLE,    /* the outermost frame */
	CFI_END_SHORT,    /* what comes next was not copied */
	CFI_END_NO_TABLE, /* no rule for the code, and its frame pointer leads nowhere */
	CFI_END_UNKNOWN,  /* the return address is in no known executable memory */
	CFI_END_DAMAGED,  /* a rule that is none, or a stack that goes down */
	CFI_END_FULL,     /* as many frames as were asked for */
};

struct cfi_frame {
	uint64_t ip;
	bool exact; /* sampled, or interrupted by a signal: not where a call returns to */
};

struct cfi_unwinder {
	enum cfi_machine machine;
	uint64_t pac_mask; /* arm64: bits of a return address that are a signature */
	cfi_find find;
	void *arg;
};

/**
 * cfi_unwind - the frames of a stack, the sampled one first
 * @frames: of @max; frames[0] is regs->ip
 * @nr: how many there are, also if the stack ends early; all but the first are in known
 * executable memory
 * Where no rule is known for the code of a frame, one step is made by the frame pointer,
 * if what it points to was copied and the return address is in executable memory.
 */
enum cfi_end cfi_unwind(const struct cfi_unwinder *u, const struct cfi_regs *regs,
			const struct cfi_stack *stack, struct cfi_frame *frames,
			size_t max, size_t *nr);

#endif
