/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool catalog_is_live(const struct catalog_dir *d)
{
	return d->has_live ? !d->live.closed : !strcmp(d->session, "current");
}

int catalog_samples(const struct catalog *c, const struct catalog_file *f,
		    struct spec_sample_reader *out, struct err *err)
{
	const struct catalog_dir *d = &c->dirs[f->dir];
	int fd;

	if (c->copy_fd < 0 || !catalog_is_live(d))
		return spec_sample_open_as(d->fd, f->path, d->abi, out, err);
	fd = fcntl(c->copy_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (fd < 0)
		return err_errno(err, -errno, "%s", f->path);
	*out = (struct spec_sample_reader){ .fd = fd,
					    .nr_nodes = f->nr_nodes,
					    .nodes_off = f->copy_off,
					    .header = f->header };
	return 0;
}

const struct spec_task *catalog_task(const struct catalog *c,
				     const struct catalog_file *f,
				     const struct viewer *reader)
{
	return f->task && spec_tasks_tell(&c->dirs[f->dir].tasks, f->task,
					  viewer_cred(reader))
		       ? f->task
		       : NULL;
}

struct catalog *catalog_get(struct catalog *c)
{
	if (c)
		__atomic_add_fetch(&c->refs, 1, __ATOMIC_RELAXED);
	return c;
}

struct catalog *catalog_borrow(struct catalog *from, size_t max)
{
	struct catalog *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	c->refs = 1;
	/* everything behind the count, which other threads change meanwhile */
	memcpy(&c->generation, &from->generation,
	       sizeof(*c) - offsetof(struct catalog, generation));
	c->from = catalog_get(from);
	c->arena = (struct arena){ 0 };
	c->nr_images = 0;
	c->images = arena_calloc(&c->arena, max, sizeof(*c->images));
	c->names = NULL;
	if (c->images)
		return c;
	catalog_put(c);
	return NULL;
}

/* What a catalog holds that borrows nothing. */
static void close_all(struct catalog *c)
{
	for (size_t i = 0; i < c->nr_dirs; i++) {
		if (c->dirs[i].part) {
			catalog_put(c->dirs[i].part);
			continue;
		}
		if (c->dirs[i].fd >= 0)
			close(c->dirs[i].fd);
		spec_images_fini(&c->dirs[i].rows);
		spec_regions_fini(&c->dirs[i].regions);
		spec_tasks_fini(&c->dirs[i].tasks);
	}
	if (c->copy_fd >= 0)
		close(c->copy_fd);
	map_fini(&c->by_image);
	map_fini(&c->by_event);
}

void catalog_put(struct catalog *c)
{
	if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (c->from)
		catalog_put(c->from);
	else
		close_all(c);
	arena_fini(&c->arena);
	free(c);
}
