/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "opfs/catalog_build.h"

/* Who was sampled: the table of tasks, by the ids in names of sample files. */

static uint64_t task_key(uint32_t tgid, uint32_t tid)
{
	return (uint64_t)tgid << 32 | tid;
}

/* Of several rows for a task the last counts: that is who it became. */
static int index_tasks(const struct spec_tasks *tasks, struct map_u64 *by_id)
{
	for (size_t i = 0; i < tasks->nr; i++) {
		const struct spec_task *t = &tasks->rows[i];

		if (map_u64_set(by_id, task_key(t->tgid, t->tid), i))
			return -ENOMEM;
	}
	return 0;
}

/* Its thread if that has a row of its own, else its process. */
static void find_task(const struct catalog_dir *d, const struct map_u64 *by_id,
		      struct catalog_file *f)
{
	uint32_t tgid = (uint32_t)f->name.tgid, tid = (uint32_t)f->name.tid;
	uint64_t row;

	if (f->name.tgid >= 0 && (map_u64_get(by_id, task_key(tgid, tid), &row) ||
				  map_u64_get(by_id, task_key(tgid, tgid), &row)))
		f->task = &d->tasks.rows[row];
}

int catalog_read_tasks(struct catalog_build *b, struct catalog_dir *d, size_t flat,
		       size_t cg)
{
	struct map_u64 by_id = { 0 };
	struct err why = { 0 };
	bool separated = false;
	int rc;

	for (size_t i = flat; i < b->flat.len && !separated; i++)
		separated = b->flat.data[i].name.tgid >= 0;
	if (!separated)
		return 0;
	rc = spec_tasks_read(d->fd, &d->tasks, &why);
	if (rc)
		return rc == -ENOMEM ? catalog_no_memory(b) : catalog_add_bad(b, "tasks", why.msg);
	rc = index_tasks(&d->tasks, &by_id);
	for (size_t i = flat; i < b->flat.len && !rc; i++)
		find_task(d, &by_id, &b->flat.data[i]);
	for (size_t i = cg; i < b->cg.len && !rc; i++)
		find_task(d, &by_id, &b->cg.data[i]);
	map_u64_fini(&by_id);
	return rc ? catalog_no_memory(b) : 0;
}
