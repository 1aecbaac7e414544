/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/keep.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/parallel.h"
#include "libsym/server/keep.h"
#include "libsym/wire/kept.h"
#include "opfs/profile/lines.h"

struct piece { /* an image */
	uint32_t image;
	struct sym_range *ranges;
	size_t nr_ranges;
	int rc;
	bool written;
	struct err err;
};

struct keeping {
	struct profile_keep *k;
	pthread_mutex_t lock; /* of the directory */
	struct piece *pieces; /* one for each image that has code with names */
	size_t nr;
};

static void keeping_fini(struct keeping *g)
{
	for (size_t i = 0; i < g->nr; i++)
		free(g->pieces[i].ranges);
	free(g->pieces);
	pthread_mutex_destroy(&g->lock);
}

static int add_piece(void *ctx, uint32_t image, const struct sym_range *ranges, size_t nr)
{
	struct keeping *g = ctx;
	struct piece *p = &g->pieces[g->nr];

	*p = (struct piece){ .image = image, .nr_ranges = nr };
	p->ranges = malloc((nr + 1) * sizeof(*ranges));
	if (!p->ranges)
		return -ENOMEM;
	if (nr)
		memcpy(p->ranges, ranges, nr * sizeof(*ranges));
	g->nr++;
	return 0;
}

static void keep_piece(void *ctx, size_t i)
{
	struct keeping *g = ctx;
	struct piece *p = &g->pieces[i];
	const struct profile_image *img = &g->k->p->images[p->image];
	const struct sym_keep want = { .job = &img->job,
				       .table = img->table,
				       .ranges = p->ranges,
				       .nr_ranges = p->nr_ranges };
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	char name[SYM_KEPT_NAME];
	bool is_public = false;

	p->rc = sym_keep_make(sym_cache_server(g->k->syms), &want, NULL, &bytes,
			      &is_public, &p->err);
	if (p->rc || !bytes.len || !sym_kept_name(&img->job, name))
		return;
	pthread_mutex_lock(&g->lock);
	p->rc = symbols_dir_put(g->k->dir, name, &bytes, is_public, &p->err);
	pthread_mutex_unlock(&g->lock);
	p->written = !p->rc;
}

static void tell_lost(struct profile_keep *k, uint32_t image, const char *why)
{
	k->lost++;
	k->tell(k->ctx, k->p->cat->images[image].shown, why);
}

/* An image that has no symbols loses none. */
static void tell_missing(struct profile_keep *k)
{
	for (uint32_t i = 0; i < k->p->cat->nr_images; i++) {
		const struct profile_image *img = &k->p->images[i];

		if (img->used && img->has_job && !img->table &&
		    img->state != SYM_NO_SYMBOLS)
			tell_lost(k, i,
				  img->reason ? img->reason : sym_state_name(img->state));
	}
}

int profile_keep(struct profile_keep *k, struct err *err)
{
	const struct lines_query q = { .p = k->p, .what = LINES_OF_ALL, .syms = k->syms };
	CLEANUP(keeping_fini)
	struct keeping g = { .k = k, .lock = PTHREAD_MUTEX_INITIALIZER };
	int rc;

	g.pieces = calloc(k->p->cat->nr_images + 1, sizeof(*g.pieces));
	rc = g.pieces ? lines_wanted(&q, add_piece, &g, err) : -ENOMEM;
	if (rc)
		return err_errno(err, rc, "names to be kept");
	parallel_each("keeping names", "images", g.nr, keep_piece, &g);
	for (size_t i = 0; i < g.nr; i++) {
		const struct piece *p = &g.pieces[i];

		if (p->rc)
			tell_lost(k, p->image, p->err.msg);
		else if (p->written)
			k->written++;
		else
			k->as_before++;
	}
	tell_missing(k);
	return 0;
}
