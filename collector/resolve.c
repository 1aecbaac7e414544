/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/resolve.h"

struct coll_image *coll_resolve_app(struct coll_collect *c, struct coll_task *task)
{
	if (!task->exe)
		return NULL;
	if (!task->exe->image)
		coll_images_identify(&c->images, task->exe, task->tgid, task->parent);
	return task->exe->image;
}

static struct coll_image *anon_image(struct coll_collect *c, const struct coll_task *task,
				     struct coll_map *map)
{
	if (!map->anon || map->anon_tgid != task->tgid) {
		map->anon = coll_images_anon(&c->images, map->label, task->tgid,
					     map->start, map->end);
		map->anon_tgid = task->tgid;
	}
	return map->anon;
}

static struct coll_image *resolve_user(struct coll_collect *c, struct coll_task *task,
				       uint64_t addr, uint64_t *key, enum spec_stat *why)
{
	struct coll_map *map = coll_space_find(task->space, addr);

	if (!map) {
		*why = task->gone && !task->space->nr ? SPEC_STAT_LOST_EXITED :
							SPEC_STAT_LOST_NO_MAPPING;
		return NULL;
	}
	*why = SPEC_STAT_LOST_SAMPLEFILE; /* out of memory */
	if (!map->file) {
		*key = addr - map->start;
		return anon_image(c, task, map);
	}
	*key = addr - map->start + map->file_off;
	if (!map->file->image)
		coll_images_identify(&c->images, map->file, task->tgid, task->parent);
	return map->file->image;
}

struct coll_image *coll_resolve(struct coll_collect *c, struct coll_task *task, bool kernel,
				uint64_t addr, uint64_t *key, enum spec_stat *why)
{
	if (!kernel)
		return resolve_user(c, task, addr, key, why);
	*why = SPEC_STAT_LOST_KERNEL;
	return coll_kernel_find(&c->kernel, addr, c->last_ns, key);
}
