/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_REFUSE_H
#define OPFS_REPORT_REFUSE_H

#include "opfs/report/report.h"

/*
 * Contradictions: presenting tags that a file cannot honour, or that exclude each other.
 */

/* True if the file is the same whatever the tags are (README, status). */
bool refuse_nothing(const struct report *r);

/**
 * refuse_options - checks that the file takes all tags and words that were given
 * @set: the reports that it is one of, to name those that do take them
 * Looks at names only; report->check() knows more.  0, or -EINVAL with the files that
 * take them.
 */
int refuse_options(const struct report_set *set, const struct report *r,
		   const struct options *o, struct err *err);

#endif
