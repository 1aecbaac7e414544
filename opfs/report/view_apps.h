/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_VIEW_APPS_H
#define OPFS_REPORT_VIEW_APPS_H

#include "base/arena.h"
#include "opfs/report/view.h"

/* Applications, each with its images that were sampled. */
struct view_app {
	uint32_t app;
	uint64_t *samples; /* one a class */
	uint64_t *was;     /* in a comparison: the older side's; NULL: none */
	bool gone;         /* only on the older side: @samples are of there */
	const struct profile_pair **images; /* those with samples */
	size_t nr_images;
	bool alone; /* nothing but its own image: needs no lines for images */
};

struct view_apps {
	const struct profile *p;
	struct view_options options;
	struct view_app *apps;
	size_t nr_apps;
	uint64_t *totals;
	uint64_t *was_totals; /* in a comparison: of the older side */
	struct arena arena;
};

/* As view_init(); needs PROFILE_PAIRS only.  The threshold applies to the samples of
 * applications in class 0. */
int view_apps_init(struct view_apps *v, const struct profile *p,
		   const struct view_options *o);
void view_apps_fini(struct view_apps *v);

#endif
