/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_EXPORT_EXPORT_H
#define OPFS_REPORT_EXPORT_EXPORT_H

#include "opfs/profile/stacks.h"
#include "opfs/report/report.h"

/* What files of stacks in the formats of other tools share. */

/* What such a file takes: it has no rows that a threshold could leave out. */
#define EXPORT_TAGS                                                                      \
	(OPTION_TAG(MERGE) | OPTION_TAG(DEMANGLE) | OPTION_TAG(INCLUDE_SYMBOLS) |        \
	 OPTION_TAG(EXCLUDE_SYMBOLS) | OPTION_TAG(IMAGE_PATH) | OPTION_TAG(ROOT) |       \
	 OPTION_TAG(WITH))

/* The largest such file.  A table of stacks that somebody else wrote may be so deep that
 * its stacks, written one by one, take any space. */
#define EXPORT_MAX_BYTES (256u << 20)

/* 0, or -EINVAL for more than @max bytes, which is EXPORT_MAX_BYTES but in tests. */
int export_check_size(size_t bytes, size_t max, const char *file, struct err *err);

/* Appends a name: control characters, bytes that are not UTF-8, those in @also, and
 * spaces at both ends become "_", one for each byte. */
void export_name(struct strbuf *out, const char *name, const char *also);

/* How a column is called: its event; where that does not tell it from all others, with
 * count, unit mask, CPU, process or thread. */
void export_class(const struct profile *p, size_t class, struct strbuf *out);

/* The link-time address of a frame that has an image; where that is not known, its offset
 * in the image. */
uint64_t export_address(const struct profile *p, const struct profile_frame *frame);

/* Lines on what was counted, of which sessions, and what was lost. */
void export_facts(const struct report_job *job, struct strbuf *out);

#endif
