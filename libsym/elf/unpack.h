/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_UNPACK_H
#define LIBSYM_ELF_UNPACK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/*
 * Unpacks Zstandard files, which libdw of Debian 12 cannot; it reads the other formats.
 */

/* @magic: the first four bytes of the file. */
bool sym_unpack_is_zstd(const unsigned char *magic);

/**
 * sym_unpack_zstd - the whole content of a packed file
 * @max: most bytes that it may unpack to
 * @out: heap
 * Returns 0; -ENOEXEC if damaged or too large; -ENOMEM.
 */
int sym_unpack_zstd(int fd, size_t max, void **out, size_t *size, struct err *err);

#endif
