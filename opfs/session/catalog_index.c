/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog_index.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "opfs/session/catalog.h"

static uint64_t key_of(const struct catalog_file *f, enum catalog_index_id id)
{
	const uint64_t keys[] = {
		[CATALOG_BY_APP] = f->app,
		[CATALOG_BY_IMAGE] = f->image,
		[CATALOG_BY_TGID] = (uint64_t)f->name.tgid,
		[CATALOG_BY_TID] = (uint64_t)f->name.tid,
		[CATALOG_BY_CPU] = (uint64_t)f->name.cpu,
	};

	return keys[id];
}

/* Numbers the keys in the order of their first files: @group_of each file. */
static int number_keys(const struct catalog *c, enum catalog_index_id id,
		       struct map_u64 *groups, uint32_t *group_of)
{
	for (size_t i = 0; i < c->nr_flat; i++) {
		uint64_t key = key_of(&c->files[i], id), group;

		if (!map_u64_get(groups, key, &group)) {
			group = groups->used;
			if (map_u64_set(groups, key, group))
				return -ENOMEM;
		}
		group_of[i] = (uint32_t)group;
	}
	return 0;
}

static int make(struct catalog *c, enum catalog_index_id id, uint32_t *group_of)
{
	struct catalog_index *index = &c->index[id];
	uint32_t *first;
	size_t nr;

	if (number_keys(c, id, &index->groups, group_of))
		return -ENOMEM;
	nr = index->groups.used;
	first = arena_calloc(&c->arena, nr + 2, sizeof(*first));
	index->files = arena_calloc(&c->arena, c->nr_flat + 1, sizeof(*index->files));
	if (!first || !index->files)
		return -ENOMEM;
	/* a group's number is counted two places on, so that placing its files moves its
	 * beginning to where it belongs */
	for (size_t i = 0; i < c->nr_flat; i++)
		first[group_of[i] + 2]++;
	for (size_t g = 2; g < nr + 2; g++)
		first[g] += first[g - 1];
	for (uint32_t i = 0; i < c->nr_flat; i++)
		index->files[first[group_of[i] + 1]++] = i;
	index->first = first;
	return 0;
}

int catalog_index_all(struct catalog *c)
{
	CLEANUP(free_ptr)
	uint32_t *group_of = calloc(c->nr_flat + 1, sizeof(*group_of));
	int rc = group_of ? 0 : -ENOMEM;

	for (int id = 0; id < CATALOG_NR_INDICES && !rc; id++)
		rc = make(c, id, group_of);
	return rc;
}

void catalog_index_fini(struct catalog *c)
{
	for (int id = 0; id < CATALOG_NR_INDICES; id++)
		map_u64_fini(&c->index[id].groups);
}

const uint32_t *catalog_indexed(const struct catalog *c, enum catalog_index_id id,
				uint64_t key, size_t *nr)
{
	const struct catalog_index *index = &c->index[id];
	uint64_t group;

	*nr = 0;
	if (!map_u64_get(&index->groups, key, &group))
		return NULL;
	*nr = index->first[group + 1] - index->first[group];
	return index->files + index->first[group];
}
