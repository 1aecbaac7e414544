/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_NS_PER_S 1000000000ULL
#define CLOCK_NS_PER_MS 1000000ULL

/* What time it is, in nanoseconds: since some moment, never going back (CLOCK_MONOTONIC);
 * the same, that goes on while the machine sleeps (CLOCK_BOOTTIME); and since 1970, which
 * somebody may set (CLOCK_REALTIME). */
uint64_t clock_mono_ns(void);
uint64_t clock_boot_ns(void);
uint64_t clock_real_ns(void);
/* The processor time that the calling thread has used. */
uint64_t clock_thread_ns(void);

static inline uint64_t clock_ns_of(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * CLOCK_NS_PER_S + (uint64_t)ts->tv_nsec;
}

#endif
