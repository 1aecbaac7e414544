/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_ELF_ID_H
#define COLLECTOR_WHO_ELF_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libspec/session/images.h"

/*
 * The little that collecting must know of an ELF file: its build-id, and where a
 * kernel's code is.  The file may be hostile.
 */

/* The build-id of a file (32 or 64 bits, little endian); false if there is none. */
bool coll_elf_build_id(int fd, struct build_id *out);

/* The build-id of an ELF image in memory of at most @len bytes, as the vdso. */
bool coll_elf_build_id_mem(const void *image, size_t len, struct build_id *out);

/**
 * coll_elf_text - address and size of section .text
 * Returns 0, or -EBADMSG for a file that is no 64-bit ELF file with that section.
 */
int coll_elf_text(int fd, uint64_t *addr, uint64_t *size, struct err *err);

#endif
