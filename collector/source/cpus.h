/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_CPUS_H
#define COLLECTOR_SOURCE_CPUS_H

#include "base/ids.h"

/* Adds the CPUs that are online.  0 or -errno. */
int coll_cpus_online(struct ids *out, struct err *err);

#endif
