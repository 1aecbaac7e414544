/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "opfs/report/archive/archive.h"
#include "opfs/report/archive/images.h"
#include "opfs/report/archive/sessions.h"

/*
 * archive.tar: sessions with everything that their reports are made from, for another
 * machine.
 */

static void archive_free(struct archive *a)
{
	if (!a)
		return;
	tar_free(a->t);
	catalog_put(a->cat);
	vec_for(&a->fds, fd)
		close(*fd);
	vec_fini(&a->fds);
	close_fd(&a->session_dir);
	close_fd(&a->root);
	free((gid_t *)a->who.groups);
	strbuf_fini(&a->left_out);
	strbuf_fini(&a->name);
	chosen_fini(&a->chosen);
	free(a);
}

static void archive_freep(struct archive **a)
{
	archive_free(*a);
}

static int fill(struct archive *a)
{
	const int64_t mtime = (int64_t)(a->cat->drained_ns / 1000000000u);
	const struct tar_info left_out = { .name = "LEFT_OUT", .mtime = mtime };
	int rc = archive_add_sessions(a);

	rc = rc ? rc : archive_add_images(a);
	if (!rc && strbuf_error(&a->left_out))
		rc = archive_no_memory(a);
	if (!rc && a->left_out.len)
		rc = tar_add_bytes(a->t, &left_out, a->left_out.data, a->left_out.len,
				   a->err);
	strbuf_fini(&a->left_out);
	return rc ? rc : tar_seal(a->t, mtime, a->err);
}

/* ---- as a text */

static int read_part(void *ctx, char *buf, size_t len, off_t off,
		     const atomic_bool *cancel)
{
	struct archive *a = ctx;

	return tar_read(a->t, buf, len, off, cancel);
}

static bool is_fresh(void *ctx)
{
	struct archive *a = ctx;

	return tar_fresh(a->t);
}

static void free_archive(void *ctx)
{
	archive_free(ctx);
}

static const struct text_source source = { .read = read_part,
					   .free = free_archive,
					   .fresh = is_fresh };

/* What later reads need of who asks. */
static int note_viewer(struct archive *a, const struct report_job *job)
{
	const struct viewer own = { .cred = { .uid = geteuid(), .gid = getegid() } };
	size_t bytes;
	gid_t *groups;

	a->server = job->syms ? sym_cache_server(job->syms) : NULL;
	a->who = job->v ? job->v->cred : own.cred;
	bytes = a->who.nr_groups * sizeof(*groups);
	groups = malloc(bytes + 1);
	if (groups && bytes)
		memcpy(groups, a->who.groups, bytes);
	a->who.groups = groups;
	return groups ? 0 : -ENOMEM;
}

static int open_archive(const struct report_job *job, struct text **out, struct err *err)
{
	CLEANUP(archive_freep) struct archive *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return report_no_memory(err);
	a->cat = catalog_get(job->p->cat);
	a->root = -1;
	a->session_dir = open(a->cat->session_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (a->session_dir < 0)
		return err_errno(err, -errno, "%s", a->cat->session_dir);
	if (a->cat->archive.root)
		a->root = open(a->cat->archive.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	a->job = job;
	a->err = err;
	if (note_viewer(a, job) || chosen_init(&a->chosen, job))
		return report_no_memory(err);
	rc = tar_new(archive_open, a, &a->t, err);
	rc = rc ? rc : fill(a);
	a->job = NULL;
	a->err = NULL;
	rc = rc ? rc : text_new_source(&source, a, (size_t)tar_size(a->t), out, err);
	if (!rc)
		a = NULL;
	return rc;
}

const struct report report_archive = {
	.name = "archive.tar",
	.doc = "sessions, binaries, debug files and sources, for another machine",
	.needs = PROFILE_HITS | PROFILE_ARCS,
	.more = true,
	.whole = true,
	.owner = true,
	.tags = OPTION_TAG(WITH) | OPTION_TAG(IMAGE_PATH) | OPTION_TAG(ROOT),
	.words = OPTION_WITH(EXCLUDE_DEPENDENT),
	.open = open_archive,
};
