/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/build.h"

#include <errno.h>

#include "base/cleanup.h"

int profile_no_memory(struct profile_build *b)
{
	err_set(b->err, -ENOMEM, "out of memory while loading a profile");
	return -ENOMEM;
}

int profile_interrupted(struct profile_build *b)
{
	err_set(b->err, -EINTR, "interrupted: nobody waits for this any more");
	return -EINTR;
}

uint32_t profile_app_of(const struct profile_build *b, uint32_t app, uint32_t image)
{
	if (b->q->merge_kernel && b->p->cat->images[image].kernel)
		return b->kernel_app;
	return b->q->merge_lib ? image : app;
}

size_t profile_picks_end(const struct profile_build *b, size_t i, bool same_app)
{
	const struct profile_pick *first = &b->picks[i];

	while (i < b->nr_picks && b->picks[i].file->image == first->file->image &&
	       (!same_app || b->picks[i].app == first->app))
		i++;
	return i;
}

enum { BLOCK_NODES = 2048 };

/* @rc: of opening @r, which is closed. */
static int read_nodes(struct spec_sample_reader *r, int rc, profile_nodes_visit visit,
		      void *ctx, struct err *why)
{
	struct spec_sample_node block[BLOCK_NODES];

	if (rc)
		return rc == -ENOMEM ? rc : 0;
	for (uint32_t at = 0; (at = spec_sample_skip(r, at)) < r->nr_nodes && !rc;) {
		ssize_t got = spec_sample_read(r, at, block, BLOCK_NODES, why);

		if (got <= 0)
			break;
		rc = visit(ctx, block, (size_t)got);
		at += (uint32_t)got;
	}
	spec_sample_fini(r);
	return rc;
}

int profile_read_nodes(const struct catalog *cat, const struct catalog_file *file,
		       profile_nodes_visit visit, void *ctx, struct err *why)
{
	struct spec_sample_reader r = { 0 };
	int rc = catalog_samples(cat, file, &r, why);

	return read_nodes(&r, rc, visit, ctx, why);
}

int profile_read_stack_nodes(const struct catalog *cat, const struct catalog_file *file,
			     profile_nodes_visit visit, void *ctx, struct err *why)
{
	struct spec_sample_reader r = { 0 };
	int rc = catalog_stack_samples(cat, file, &r, why);

	return read_nodes(&r, rc, visit, ctx, why);
}

int profile_note_bad(struct profile_build *b, const struct catalog_file *file,
		     const struct err *why)
{
	struct catalog_bad bad = { 0 };

	if (!why->msg[0])
		return 0;
	bad.path = arena_strdup(&b->p->arena, file->path);
	bad.reason = arena_strdup(&b->p->arena, why->msg);
	if (!bad.path || !bad.reason || vec_push(&b->bad, bad))
		return profile_no_memory(b);
	return 0;
}
