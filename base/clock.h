/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

#define CLOCK_NS_PER_S 1000000000ULL

/* What time it is, in nanoseconds: since some moment, never going back (CLOCK_MONOTONIC),
 * and since 1970 (CLOCK_REALTIME). */
uint64_t clock_mono_ns(void);
uint64_t clock_real_ns(void);

#endif
