/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/chosen.h"

#include <errno.h>
#include <stdlib.h>

#include "opfs/profile/stacks.h"

static void choose(struct chosen *c, const struct report_job *job, size_t i)
{
	const struct catalog_file *f = &job->p->cat->files[i];
	uint32_t callee = f->callee == CATALOG_NO_IMAGE ? f->image : f->callee;

	if (job->o->view.exclude_dependent && (f->image != f->app || callee != f->app))
		return;
	c->files[i] = true;
	c->images[f->image] = c->images[callee] = true;
}

int chosen_init(struct chosen *c, const struct report_job *job)
{
	const struct profile *p = job->p;

	*c = (struct chosen){
		.files = calloc(p->cat->nr_files + 1, sizeof(*c->files)),
		.images = calloc(p->cat->nr_images + 1, sizeof(*c->images)),
	};
	if (!c->files || !c->images)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_selected + p->nr_arc_files; i++)
		choose(c, job, p->selected[i]);
	for (size_t i = 0; p->stacks && i < p->stacks->nr_funcs; i++)
		if (p->stacks->funcs[i].image != CATALOG_NO_IMAGE &&
		    !job->o->view.exclude_dependent)
			c->images[p->stacks->funcs[i].image] = true;
	return 0;
}

void chosen_fini(struct chosen *c)
{
	free(c->files);
	free(c->images);
	*c = (struct chosen){ 0 };
}
