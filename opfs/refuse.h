/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REFUSE_H
#define OPFS_REFUSE_H

#include "opfs/report.h"

/* Contradictions: presenting tags that a file cannot do, or that undo each other. */

/* Does the file show the same whatever the tags are (README, status)? */
bool refuse_nothing(const struct report *r);

/**
 * refuse_options - are there tags or words that the file does not take?
 * Looks at names only; report->check() knows more.  0, or -EINVAL with what takes them.
 */
int refuse_options(const struct report *r, const struct options *o, struct err *err);

#endif
