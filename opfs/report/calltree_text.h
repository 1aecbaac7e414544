/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_CALLTREE_TEXT_H
#define OPFS_REPORT_CALLTREE_TEXT_H

#include "opfs/report/report.h"

/* Call trees as text, for less and grep: a line a function. */

/* The text of such a file: functions below their callers or, @inverted, below what they
 * called.  0, -EINTR, -ENOMEM; -E2BIG: it is too long to be made. */
int calltree_text(const struct report_job *job, bool inverted, struct strbuf *out,
		  struct err *err);
/* Its check, see struct report. */
int calltree_text_check(const struct report_job *job, struct err *err);

/* How a line calls a function. */
struct calltree_func;
void calltree_text_name(const struct calltree_func *f, struct strbuf *out);

#define CALLTREE_TAGS                                                                    \
	(OPTION_TAG(MERGE) | OPTION_TAG(SPLIT) | OPTION_TAG(THRESHOLD) |                 \
	 OPTION_TAG(INCLUDE_SYMBOLS) | OPTION_TAG(EXCLUDE_SYMBOLS) |                     \
	 OPTION_TAG(DEMANGLE) | OPTION_TAG(WITH) | OPTION_TAG(IMAGE_PATH) |              \
	 OPTION_TAG(ROOT))
#define CALLTREE_WORDS                                                                   \
	(OPTION_WITH(INVERTED) | OPTION_WITH(NO_HEADER) | OPTION_WITH(LONG_FILENAMES) |  \
	 OPTION_WITH(INLINES))

#endif
