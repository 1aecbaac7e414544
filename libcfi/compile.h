/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_COMPILE_H
#define LIBCFI_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * Makes the table that the unwinder goes by (libcfi/table.h) from what compilers write
 * down for debuggers and exceptions: call frame information, DWARF 5 section 6.4, as
 * .debug_frame and, in the variant of the Linux Standard Base, as .eh_frame.
 *
 * What is compiled may be anybody's: every read is bounded, and what makes no sense costs
 * the functions that it is about, and no others.
 */

enum cfi_machine { CFI_X86_64 = 1, CFI_ARM64 = 2 };

/**
 * cfi_compile_file - compiles the unwind information of an ELF file
 * @fd: a regular file; stays the caller's
 * @out: the table is added; keyed by offsets in the file
 * A file of another machine, or without unwind information, gives a table without rules,
 * which is no error.
 * Returns 0; -ENOEXEC: not an ELF file; -E2BIG: more than a table may have; or -errno.
 */
int cfi_compile_file(int fd, struct strbuf *out, struct err *err);

/**
 * cfi_compile_frames - compiles one section in the form of .eh_frame
 * @frames, @size: the section
 * @vma: where it would be, in bytes from where keys of the table begin; pointers in it
 * that are relative to themselves count from there
 * @out: the table is added; keyed by the addresses that the section describes
 * Returns 0, -E2BIG or -ENOMEM.
 */
int cfi_compile_frames(enum cfi_machine machine, const void *frames, size_t size,
		       uint64_t vma, struct strbuf *out, struct err *err);

/* A piece of code that was made at run time. */
struct cfi_made {
	uint64_t start, size; /* keys */
	/* a section in the form of .eh_frame, as if it stood behind the code, at the next
	 * multiple of 8 bytes; NULL: a trampoline of CPython on x86-64 */
	const void *frames;
	size_t frames_size;
};

/**
 * cfi_compile_made - compiles what is known of an area of code that was made at run time
 * @made: @nr pieces, in any order
 * @size: bytes of the area, whose first one has key 0
 * Where there are trampolines there are more, of which nothing is known yet.
 * Returns 0, -E2BIG or -ENOMEM.
 */
int cfi_compile_made(enum cfi_machine machine, const struct cfi_made *made, size_t nr,
		     uint64_t size, struct strbuf *out, struct err *err);

#endif
