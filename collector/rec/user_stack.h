/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_REC_USER_STACK_H
#define COLLECTOR_REC_USER_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libcfi/unwind.h"

/* What a sample brings along for its user stack to be unwound. */

/* Executable memory of the address space, and what is mapped there. */
struct coll_code_range {
	uint64_t start, end;
	/* as struct coll_place has them: the handle, and @at of the first address */
	uint64_t handle, at;
};

struct coll_user_stack {
	uint16_t machine; /* as ELF numbers them, EM_X86_64 or EM_AARCH64 */
	bool none;        /* the registers could not be had: nothing else holds */
	struct cfi_regs
		regs;      /* of user code, where it was sampled or entered the kernel */
	const void *bytes; /* a copy of the stack, from @regs.sp on; not aligned */
	size_t size;
	/* There is no more above, or it could not be copied.  Else as much was copied as
	 * was asked for. */
	bool whole;
	/*
	 * All executable ranges that the registers and the copy point into, in any
	 * order; NULL and 0 from sources that do not tell, where the collector's own
	 * knowledge of mappings is to be asked.  @ranges_cut: there are more.
	 */
	const struct coll_code_range *ranges;
	size_t nr_ranges;
	bool ranges_cut;
};

#endif
