/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_TRAMPOLINE_H
#define LIBCFI_TRAMPOLINE_H

#include "libcfi/rows.h"

/*
 * What CPython, with -X perf, puts before each function of Python's, so that it has an
 * address of its own: on x86-64 "sub $8,%rsp; call *%rcx; add $8,%rsp; ret", behind an
 * "endbr64" where the compiler protects branches.
 * Source: Python/asm_trampoline.S of CPython 3.12.
 */
enum { CFI_TRAMPOLINE_BYTES = 11, CFI_TRAMPOLINE_ENDBR_BYTES = 15 };

/* They are made one by one in areas of this size that hold nothing else. */
enum { CFI_TRAMPOLINES_BYTES = 65536 };

/* One of them; nothing if it has another size than one of these.  0 or -errno. */
int cfi_add_trampoline(struct cfi_rows *rows, uint32_t key, uint64_t size);

/**
 * cfi_fill_with_trampolines - what is not described from @start to @end is more of them
 * Stacks lead through their calls.  All that is described must have been added before.
 * 0 or -errno.
 */
int cfi_fill_with_trampolines(struct cfi_rows *rows, uint32_t start, uint32_t end);

#endif
