/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_CANDIDATES_H
#define OPFS_TREE_CANDIDATES_H

#include "libspec/spec/match.h"
#include "opfs/session/catalog.h"
#include "opfs/tree/place.h"

/*
 * The flat files that need a look to find those that a specification selects: by the tag
 * that has the fewest in the catalog's indices, so that a part of a large session costs
 * about what it has.
 */
struct candidates {
	const uint32_t *files; /* ascending; NULL: all from 0 on */
	size_t nr;
	uint32_t *own; /* @files, if these are none of a selection's; to be freed */
};

/* @of: NULL, or all of them are among these.  0 or -ENOMEM. */
int candidates_find(const struct catalog *cat, const struct spec_select *by,
		    const struct selection *of, struct candidates *out);
void candidates_fini(struct candidates *c);

#endif
