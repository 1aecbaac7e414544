/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_JIT_PERF_MAP_H
#define LIBSPEC_JIT_PERF_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "libspec/jit/code.h"

/* What a line says, unchecked; the name, of @len bytes, has no NUL behind it, and may be
 * empty.  Returns 0, or -errno, which ends the reading. */
typedef int (*spec_perf_map_line)(void *ctx, uint64_t start, uint64_t size,
				  const char *name, size_t len);

/**
 * spec_perf_map_read - reads a map as runtimes write it for perf
 * @text: lines of start, size (hexadecimal, with or without 0x) and name, up to the end
 *	of the line; any bytes
 * @bad: lines that are none of these are added
 * A last line without newline is still being written, and passed over.
 * 0, or what @line returned.
 */
int spec_perf_map_read(const char *text, size_t len, spec_perf_map_line line, void *ctx,
		       uint64_t *bad);

/* Adds the entries of a map to @out, and counts lines that are none.  0 or -ENOMEM. */
int spec_jit_perf_map(const char *text, size_t len, struct spec_jit_list *out);

#endif
