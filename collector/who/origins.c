/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/origins.h"

#include <errno.h>
#include <stdlib.h>

static void drop(struct coll_origins *t, uint64_t handle)
{
	uint64_t value;

	if (!map_u64_get(&t->by_handle, handle, &value))
		return;
	map_u64_del(&t->by_handle, handle);
	free((struct coll_map *)(uintptr_t)value);
	t->last = NULL;
}

bool coll_origins_forgets(const struct coll_origins *t, const struct coll_rec *rec)
{
	uint64_t value, handle = rec->origin.handle;

	return map_u64_get(&t->by_handle, handle, &value) ||
	       (rec->origin.region &&
		map_u64_get(&t->by_handle, handle - COLL_ORIGINS_REGIONS, &value));
}

int coll_origins_add(struct coll_origins *t, struct coll_images *images,
		     const struct coll_rec *rec)
{
	const struct coll_mmap *m = &rec->origin.mmap;
	struct coll_map *map;

	drop(t, rec->origin.handle);
	if (rec->origin.gone)
		return 0;
	map = calloc(1, sizeof(*map));
	if (!map)
		return -ENOMEM;
	map->start = m->start;
	map->end = m->start + m->len;
	if (rec->origin.region) {
		drop(t, rec->origin.handle - COLL_ORIGINS_REGIONS);
		map->label = coll_images_label(images, m);
	} else {
		map->file = coll_images_see(images, m);
	}
	if ((!map->label && !map->file) ||
	    map_u64_set(&t->by_handle, rec->origin.handle, (uintptr_t)map)) {
		free(map);
		return -ENOMEM;
	}
	return 0;
}

struct coll_map *coll_origins_find(struct coll_origins *t, uint64_t handle)
{
	uint64_t value;

	if (t->last && t->last_handle == handle)
		return t->last;
	if (!map_u64_get(&t->by_handle, handle, &value))
		return NULL;
	t->last_handle = handle;
	t->last = (struct coll_map *)(uintptr_t)value;
	return t->last;
}

void coll_origins_keep(struct coll_origins *t, bool images)
{
	uint64_t handle, value;
	size_t pos = 0;

	while (map_u64_next(&t->by_handle, &pos, &handle, &value)) {
		struct coll_map *map = (struct coll_map *)(uintptr_t)value;

		coll_images_keep(map->file);
		if (images)
			map->anon = NULL;
	}
}

void coll_origins_fini(struct coll_origins *t)
{
	uint64_t handle, value;
	size_t pos = 0;

	while (map_u64_next(&t->by_handle, &pos, &handle, &value))
		free((struct coll_map *)(uintptr_t)value);
	map_u64_fini(&t->by_handle);
	t->last = NULL;
}
