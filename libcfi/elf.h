/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBCFI_ELF_H
#define LIBCFI_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libcfi/compile.h"

/*
 * What of an ELF file unwind tables are made of.  Only that is read, by pread(), so that
 * a file that somebody cuts short meanwhile ends nothing; every offset in it is checked.
 */

struct cfi_section {
	const void *bytes; /* NULL: there is none */
	size_t size;
	uint64_t vma;
};

/* Code: where a range of addresses is in the file. */
struct cfi_segment {
	uint64_t vma, size, off;
};

enum { CFI_MAX_SEGMENTS = 64, CFI_MAX_PLTS = 8, CFI_MAX_SECTION = 128 << 20 };

struct cfi_elf {
	int fd; /* the caller's */
	uint64_t size;
	enum cfi_machine machine;                 /* 0: one that is not known here */
	struct cfi_section eh_frame, debug_frame; /* heap */
	struct cfi_section plts[CFI_MAX_PLTS];    /* without bytes */
	size_t nr_plts;
	struct cfi_segment segments[CFI_MAX_SEGMENTS];
	size_t nr_segments;
	uint64_t entry; /* an address; 0: there is none */
};

/**
 * cfi_elf_read - finds and reads what is needed
 * @e: give it to cfi_elf_fini(), also after a failure
 * What lies outside of the file is as if it were not there.  Compressed sections are not
 * read: files that are executed have none.
 * Returns 0; -ENOEXEC: it is no ELF file; -E2BIG: a section is too long; or -errno.
 */
int cfi_elf_read(struct cfi_elf *e, int fd, struct err *err);
void cfi_elf_fini(struct cfi_elf *e);

/* Where code at an address is in the file, and how many bytes follow that belong to it.
 * False: there is none. */
bool cfi_elf_offset(const struct cfi_elf *e, uint64_t vma, uint64_t *off, uint64_t *room);

/* The code of a segment, to be freed: 0, or -errno; -E2BIG if it is longer than @most. */
int cfi_elf_code(const struct cfi_elf *e, const struct cfi_segment *s, size_t most,
		 void **out);

#endif
