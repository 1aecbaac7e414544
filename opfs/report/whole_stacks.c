/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/whole_stacks.h"

#include <errno.h>

int whole_stacks_check(const struct report_job *job, const char *file, struct err *err)
{
	const struct profile *p = job->p;

	for (size_t i = 0; i < p->nr_selected; i++)
		if (p->cat->files[p->selected[i]].stacks.nr_nodes)
			return 0;
	return err_set(err, -EINVAL,
		       "%s is made from whole stacks, and none of those selected was "
		       "recorded with its stack: opcollect record -g does that",
		       file);
}

int whole_stacks_one_event(const struct report_job *job, const char *file, size_t *class,
			   struct err *err)
{
	const struct profile *p = job->p;
	size_t nr = 0;
	int rc = whole_stacks_check(job, file, err);

	*class = 0;
	for (size_t c = 0; c < p->nr_classes; c++) {
		if (!p->classes[c].total)
			continue;
		*class = c;
		nr++;
	}
	if (rc || nr <= 1)
		return rc;
	return err_set(err, -EINVAL,
		       "%s has room for one event, and this selects %zu: choose one with "
		       "event:, count: or unit-mask:",
		       file, nr);
}
