/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_TEXT_H
#define OPFS_TREE_TEXT_H

#include "base/cache.h"
#include "opfs/tree/ask.h"

/* The files of a profile: what they are made of, and their texts. */

/* What a report is made of. */
struct tree_job {
	struct report_job job;
	struct options o;
	struct spec *spec;
	struct profile *profile;
	struct strbuf path, base_path;
};
int tree_job_init(struct tree_job *j, const struct ask *a, const struct place *p);
void tree_job_fini(struct tree_job *j);
/* When the text of a report has to be made again: see base/until.h. */
int64_t tree_until(const struct tree_job *j, const struct report *r);
/* What is made for the cache, by cache_get(). */
struct tree_making {
	struct tree *t;
	const struct place *p;
};
/* tree_text() of a report. */
int tree_report_text(const struct ask *a, const struct place *p, struct text **out);
/* tree_write() of one that is rendered. */
int tree_report_write(const struct ask *a, const struct place *p,
		      struct strbuf_sink *sink);
/* Appends to a cache key what a place selects; equal selections have equal keys, however
 * they were spelled. */
void tree_selection_key(const struct place *p, struct strbuf *key);
/* The cache key of a report at a place: equal selections have equal texts. */
void tree_text_key(struct tree *t, const struct place *p, const struct viewer *v,
		   struct strbuf *key);

#endif
