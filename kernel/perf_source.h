/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_PERF_SOURCE_H
#define OPK_PERF_SOURCE_H

#include "opfs_source.h"

/* Hardware counters, and IBS, through the kernel's own perf interface. */
extern struct opk_source opk_source_perf;

/* True if any counter is enabled. */
bool opk_perf_wanted(void);

/* True if the CPU has counters that overflow; asks the kernel. */
bool opk_perf_present(void);

/* Writes OPK_COUNTER records of the enabled counters; returns the number of words. */
unsigned int opk_perf_tell(u64 *words, unsigned int room);

#endif
