/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_SELECT_H
#define OPFS_TREE_SELECT_H

#include "libspec/spec/match.h"
#include "opfs/tree/ask.h"

/* From a specification to sample files. */

/**
 * tree_select_files - the sample files that a specification selects
 * Whatever symbol: says.
 * @prefix: NULL, or a tag of images whose value in @spec is the beginning of a path
 * @of: NULL, or what a specification selects of which @spec has all tags: more tags never
 *	select more
 * An empty selection is no failure.  -EAGAIN if the viewer is quick and it would take
 * time.
 */
int tree_select_files(const struct ask *a, struct catalog *cat, const struct spec *spec,
		      const struct spec_tag *prefix, const struct selection *of,
		      struct selection **out);

/* Appends what tells selections of a catalog apart: which flat files they have. */
void tree_files_key(const struct catalog *cat, const struct selection *s,
		    struct strbuf *key);
/* The same files as @s, with other samples.  NULL: no memory. */
struct selection *tree_selection_of(struct selection *s, uint64_t samples);
/* @flat and the files of arcs that @spec selects, by application and caller. */
int tree_select_arcs(const struct ask *a, struct catalog *cat, const struct spec *spec,
		     const struct selection *flat, struct selection **out);
/* What values are matched with in a catalog.  @ctx must live as long as @out. */
struct select_ctx {
	const struct ask *a;
	struct catalog *cat;
};
void tree_match_init(struct spec_match *out, struct select_ctx *ctx);

#endif
