/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/engine/resolve.h"

#include "collector/who/recognize.h"

/* The numbers of processes in a saved stream belong to others now. */
static void identify(struct coll_collect *c, struct coll_sighting *file,
		     const struct coll_task *task)
{
	bool saved = c->tasks.saved;

	coll_images_identify(&c->images, file, saved ? 0 : task->tgid,
			     saved ? 0 : task->parent);
}

struct coll_image *coll_resolve_app(struct coll_collect *c, struct coll_task *task)
{
	if (!task->exe)
		return NULL;
	if (!task->exe->image)
		identify(c, task->exe, task);
	return task->exe->image;
}

struct coll_image *coll_resolve_anon(struct coll_collect *c, const struct coll_task *task,
				     struct coll_map *map)
{
	if (!map->anon || map->anon_tgid != task->tgid) {
		map->anon = coll_images_anon(&c->images, map->label, task->tgid,
					     map->start, map->end);
		map->anon_tgid = task->tgid;
		coll_jit_region(&c->jit, task, map->label, map->start, map->end);
	}
	return map->anon;
}

/* The mapping, or its substitute where the source resolves addresses itself. */
static struct coll_map *find_map(struct coll_collect *c, struct coll_task *task,
				 const struct coll_place *place, uint64_t *off,
				 enum spec_stat *why)
{
	struct coll_map *map;

	if (place->handle) {
		*off = place->at;
		*why = SPEC_STAT_LOST_STREAM;
		return coll_origins_find(&c->origins, place->handle);
	}
	*why = task->gone && !task->space->nr ? SPEC_STAT_LOST_EXITED
					      : SPEC_STAT_LOST_NO_MAPPING;
	map = coll_space_find(task->space, place->at);
	if (map)
		*off = place->at - map->start + (map->file ? map->file_off : 0);
	return map;
}

static struct coll_image *resolve_user(struct coll_collect *c, struct coll_task *task,
				       const struct coll_place *place, uint64_t *key,
				       enum spec_stat *why)
{
	struct coll_map *map = find_map(c, task, place, key, why);

	if (!map)
		return NULL;
	*why = SPEC_STAT_LOST_SAMPLEFILE; /* out of memory */
	if (!map->file)
		return coll_resolve_anon(c, task, map);
	if (!map->file->image)
		identify(c, map->file, task);
	return map->file->image;
}

struct coll_image *coll_resolve(struct coll_collect *c, struct coll_task *task,
				const struct coll_place *place, uint64_t *key,
				enum spec_stat *why)
{
	if (!place->kernel)
		return resolve_user(c, task, place, key, why);
	*why = SPEC_STAT_LOST_KERNEL;
	return coll_kernel_find(&c->kernel, place->at, c->last_ns, key);
}
