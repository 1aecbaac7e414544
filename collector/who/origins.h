/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_ORIGINS_H
#define COLLECTOR_WHO_ORIGINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "collector/rec/rec.h"
#include "collector/who/images.h"
#include "collector/who/maps.h"

/* What the handles mean of a source that resolves addresses itself. */
struct coll_origins {
	struct map_u64 by_handle; /* -> struct coll_map; heap */
	uint64_t last_handle;     /* found last */
	struct coll_map *last;
};

/* Regions come and go with processes: a source uses none but so many told last. */
enum { COLL_ORIGINS_REGIONS = 8192 };

/* A COLL_REC_ORIGIN.  The handle may have stood for something else.  0 or -ENOMEM. */
int coll_origins_add(struct coll_origins *t, struct coll_images *images,
		     const struct coll_rec *rec);

/* Will that make a handle stand for nothing, or for something else, that stood for
 * something before? */
bool coll_origins_forgets(const struct coll_origins *t, const struct coll_rec *rec);

/* As a mapping, from offset 0 on; NULL: nothing was told of it. */
struct coll_map *coll_origins_find(struct coll_origins *t, uint64_t handle);

/* Marks what they use, in a sweep of images; @images: these are swept as well. */
void coll_origins_keep(struct coll_origins *t, bool images);

void coll_origins_fini(struct coll_origins *t);

#endif
