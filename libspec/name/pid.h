/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_NAME_PID_H
#define LIBSPEC_NAME_PID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

/*
 * Process and thread ids in names of sample files.  Numbers are used again: the second
 * process of a session that has number N is stored as N + 2^22, the third as N + 2 *
 * 2^22; Linux gives no number that large.  People write and read N.2, N.3.
 */
enum { SPEC_PID_BITS = 22, SPEC_PID_MAX_USES = 512 };

static inline uint32_t spec_pid_number(int64_t stored)
{
	return (uint32_t)stored & ((1u << SPEC_PID_BITS) - 1);
}

/* How often the number had been used before. */
static inline uint32_t spec_pid_uses(int64_t stored)
{
	return (uint32_t)stored >> SPEC_PID_BITS;
}

/* What is stored of a number that was used @uses times before; @uses wraps around. */
static inline uint32_t spec_pid_stored(uint32_t number, uint32_t uses)
{
	return spec_pid_number(number) | (uses % SPEC_PID_MAX_USES) << SPEC_PID_BITS;
}

/* Appends "N" or "N.2". */
void spec_pid_show(int64_t stored, struct strbuf *out);
/* The same back; also any other decimal number as it is.  False: none of both. */
bool spec_pid_parse(const char *text, uint64_t *stored);

#endif
