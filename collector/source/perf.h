/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_PERF_H
#define COLLECTOR_SOURCE_PERF_H

#include "collector/source/source.h"

/* Samples from perf_event's rings, one a CPU. */
extern const struct coll_source_kind coll_source_perf;

#endif
