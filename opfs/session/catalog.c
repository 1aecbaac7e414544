/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/share.h"
#include "base/strbuf.h"
#include "libspec/stack/stack_format.h"
#include "opfs/session/catalog_known.h"

bool catalog_is_live(const struct catalog_dir *d)
{
	return d->has_live ? !d->live.closed : !strcmp(d->session, "current");
}

/* Those at @at of the copy of a live session. */
static int copied_samples(const struct catalog *c, const struct catalog_file *f, off_t at,
			  uint32_t nr, struct spec_sample_reader *out, struct err *err)
{
	int fd = fcntl(c->copy_fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	if (fd < 0)
		return err_errno(err, -errno, "%s", f->path);
	*out = (struct spec_sample_reader){
		.fd = fd, .nr_nodes = nr, .nodes_off = at, .header = f->header
	};
	return 0;
}

int catalog_samples(const struct catalog *c, const struct catalog_file *f,
		    struct spec_sample_reader *out, struct err *err)
{
	const struct catalog_dir *d = &c->dirs[f->dir];

	if (c->copy_fd < 0 || !catalog_is_live(d))
		return spec_sample_open_as(d->fd, f->path, d->abi, out, err);
	return copied_samples(c, f, f->copy_off, f->nr_nodes, out, err);
}

int catalog_stack_samples(const struct catalog *c, const struct catalog_file *f,
			  struct spec_sample_reader *out, struct err *err)
{
	const struct catalog_dir *d = &c->dirs[f->dir];
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	if (c->copy_fd >= 0 && catalog_is_live(d))
		return copied_samples(c, f, f->stacks.copy_off, f->stacks.nr_nodes, out,
				      err);
	strbuf_printf(&path, SPEC_STACK_DIR "/%s", f->path);
	if (strbuf_error(&path))
		return err_errno(err, -ENOMEM, "%s", f->path);
	return spec_sample_open(d->fd, strbuf_str(&path), out, err);
}

static int compare_session(const void *session, const void *dir)
{
	return strcmp(session, ((const struct catalog_dir *)dir)->session);
}

bool catalog_is_of(const struct catalog *c, const char *session)
{
	return bsearch(session, c->dirs, c->nr_dirs, sizeof(*c->dirs), compare_session);
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

bool catalog_same_readers(const struct catalog_dir *d)
{
	return d->fd < 0 || d->given_up ||
	       (spec_tasks_same_readers(&d->tasks, d->fd) &&
		spec_regions_same_readers(&d->regions, d->fd));
}

/* ---- memory */

/* Of all catalogs of all stores, which more than one user asks. */
static pthread_mutex_t charges_lock = PTHREAD_MUTEX_INITIALIZER;
static struct share charges = { .total = 1ull << 30, .fair = true };

/* A descriptor counts as so many bytes: all together take half of those that this process
 * may have. */
static uint64_t descriptor_cost(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) || lim.rlim_cur == RLIM_INFINITY)
		return 0;
	return charges.total / (lim.rlim_cur / 2 + 1);
}

/* What it takes on the heap, about; and descriptors, of which there are fewer. */
static uint64_t catalog_bytes(const struct catalog *c)
{
	/* names in tables are allocated one by one */
	enum { ROW = 256, SLOT = 24 };
	uint64_t fd = descriptor_cost();
	uint64_t bytes = sizeof(*c) + c->arena.total + (c->copy_fd >= 0 ? fd : 0);

	for (int id = 0; id < CATALOG_NR_INDICES; id++)
		bytes += c->index[id].groups.cap * SLOT;
	for (size_t i = 0; i < c->nr_dirs; i++) {
		const struct catalog_dir *d = &c->dirs[i];

		if (!d->part)
			bytes += (d->rows.nr + d->regions.starts.used + d->tasks.nr +
				  d->stack_images.nr) *
					 ROW +
				 d->tasks.texts.total + (d->fd >= 0 ? fd : 0) +
				 (d->frames_fd >= 0 ? fd : 0);
	}
	return bytes;
}

int catalog_charge(struct catalog *c, uid_t uid, struct err *err)
{
	uint64_t bytes = catalog_bytes(c);
	int rc;

	pthread_mutex_lock(&charges_lock);
	rc = share_take(&charges, uid, bytes);
	pthread_mutex_unlock(&charges_lock);
	if (rc == -EAGAIN)
		return err_set(err, -ENFILE,
			       "the sessions that user %u stored, and the sums that he "
			       "looked at, take as much memory here as others leave for "
			       "him: close what is open below sums, or mount for "
			       "yourself",
			       (unsigned)uid);
	if (rc)
		return err_set(err, rc, "out of memory");
	c->charged = bytes;
	c->charged_to = uid;
	return 0;
}

static void discharge(const struct catalog *c)
{
	if (!c->charged)
		return;
	pthread_mutex_lock(&charges_lock);
	share_give(&charges, c->charged_to, c->charged);
	pthread_mutex_unlock(&charges_lock);
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
	c->known = false;
	c->charged = 0;
	c->arena = (struct arena){ 0 };
	c->nr_images = 0;
	c->images = arena_calloc(&c->arena, max, sizeof(*c->images));
	c->names = NULL;
	if (c->images)
		return c;
	catalog_put(c);
	return NULL;
}

void catalog_dir_fini(struct catalog_dir *d)
{
	if (d->fd >= 0)
		close(d->fd);
	if (d->frames_fd >= 0)
		close(d->frames_fd);
	spec_stack_images_fini(&d->stack_images);
	spec_images_fini(&d->rows);
	spec_regions_fini(&d->regions);
	spec_tasks_fini(&d->tasks);
}

/* What a catalog holds that borrows nothing. */
static void close_all(struct catalog *c)
{
	for (size_t i = 0; i < c->nr_dirs; i++)
		if (c->dirs[i].part)
			catalog_put(c->dirs[i].part);
		else
			catalog_dir_fini(&c->dirs[i]);
	if (c->copy_fd >= 0)
		close(c->copy_fd);
	catalog_index_fini(c);
	map_fini(&c->by_image);
	map_fini(&c->by_event);
}

void catalog_put(struct catalog *c)
{
	if (!c || __atomic_sub_fetch(&c->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (c->known)
		catalog_unknow(c);
	if (c->from)
		catalog_put(c->from);
	else
		close_all(c);
	discharge(c);
	arena_fini(&c->arena);
	free(c);
}
