/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_SOURCE_PERF_H
#define OPK_SOURCE_PERF_H

#include "opfs_source.h"

/* Hardware counters, and IBS, through the kernel's own perf interface. */
extern struct opk_source opk_source_perf;

/* Is any counter enabled? */
bool opk_perf_wanted(void);

/* Has the CPU counters that overflow?  Asks the kernel. */
bool opk_perf_present(void);

/* OPK_COUNTER records of the counters that are enabled; returns their words. */
unsigned int opk_perf_tell(u64 *words, unsigned int room);

#endif
