/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_TIMER_SOURCE_H
#define OPK_TIMER_SOURCE_H

#include "opfs_source.h"

/*
 * A timer on each CPU, for machines without counters.  It cannot sample code that runs
 * with interrupts disabled.
 */
extern struct opk_source opk_source_timer;

#endif
