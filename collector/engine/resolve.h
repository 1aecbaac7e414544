/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ENGINE_RESOLVE_H
#define COLLECTOR_ENGINE_RESOLVE_H

#include "collector/engine/collect.h"

/* The application of a process; NULL: unknown, or a kernel thread. */
struct coll_image *coll_resolve_app(struct coll_collect *c, struct coll_task *task);

/* The image of memory without a file; NULL if out of memory. */
struct coll_image *coll_resolve_anon(struct coll_collect *c, const struct coll_task *task,
				     struct coll_map *map);

/**
 * coll_resolve - image and key of a place
 * @key: the file offset (user), or the address from the image's start
 * @why: if NULL is returned, the reason under which the sample is counted
 */
struct coll_image *coll_resolve(struct coll_collect *c, struct coll_task *task,
				const struct coll_place *place, uint64_t *key,
				enum spec_stat *why);

#endif
