/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_WHOLE_STACKS_H
#define OPFS_REPORT_WHOLE_STACKS_H

#include "opfs/report/report.h"

/* What files that are made from whole stacks ask of a selection. */

/* 0; -EINVAL: the stack of none of its samples was recorded. */
int whole_stacks_check(const struct report_job *job, const char *file, struct err *err);
/* The same for a file with room for one event.  *class is the one that has samples. */
int whole_stacks_one_event(const struct report_job *job, const char *file, size_t *class,
			   struct err *err);

#endif
