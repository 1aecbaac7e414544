/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_JIT_PERF_MAP_H
#define LIBSPEC_JIT_PERF_MAP_H

#include <stddef.h>

#include "libspec/jit/code.h"

/**
 * spec_jit_perf_map - reads a map as runtimes write it for perf
 * @text: lines of start, size (hexadecimal, with or without 0x) and name, up to the end
 *	of the line; any bytes
 * Adds its entries to @out.  Lines that are none are counted in out->bad; a last line
 * without newline is still being written, and passed over.
 * 0 or -ENOMEM.
 */
int spec_jit_perf_map(const char *text, size_t len, struct spec_jit_list *out);

#endif
