/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_DRIVER_H
#define COLLECTOR_SOURCE_DRIVER_H

#include "collector/source/source.h"

/* Samples from the driver opfs_sampler, of every process on every CPU. */
extern const struct coll_source_kind coll_source_driver;

#endif
