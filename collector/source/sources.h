/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_SOURCES_H
#define COLLECTOR_SOURCE_SOURCES_H

#include "collector/source/source.h"

/* All kinds of sources; the first one is the default.  NULL behind the last. */
extern const struct coll_source_kind *const coll_sources[];

/* The one that takes samples now and is called so; -EINVAL names those that there are. */
int coll_source_find(const char *name, const struct coll_source_kind **out,
		     struct err *err);

#endif
