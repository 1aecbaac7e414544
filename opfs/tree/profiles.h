/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_PROFILES_H
#define OPFS_TREE_PROFILES_H

#include "opfs/profile/profile.h"
#include "opfs/tree/select.h"

/* Profiles of places, from the cache or loaded. */

/**
 * tree_select - the sample files that a specification selects
 * @prefix: NULL, or a tag of images whose value in @spec is the beginning of a path
 * @of: NULL, or the selection that @spec narrows, see tree_select_files()
 * An empty selection is no failure.  -EAGAIN if the viewer is quick and it would take
 * time.
 */
int tree_select(const struct ask *a, struct catalog *cat, const struct spec *spec,
		const struct spec_tag *prefix, const struct selection *of,
		struct selection **out);

/* One more than how often debug files came so far, see sym_server_arrivals(). */
uint64_t tree_arrivals(struct tree *t);
/* That, appended to a key: what was made before they came is not found again. */
void tree_arrivals_key(struct tree *t, struct strbuf *key);
/* Which files of arcs a specification selects: appended to keys. */
void tree_arcs_key(const struct spec *spec, struct strbuf *key);

/**
 * tree_profile - the profile of a place's specification, from the cache or loaded
 * @needs: PROFILE_...; a symbol: tag is applied to it
 */
int tree_profile(const struct ask *a, const struct place *p, unsigned needs,
		 struct profile **out);

/* May functions have other names there than in sources? */
static inline bool tree_spells_otherwise(const struct spec *spec)
{
	return spec->values[SPEC_DEMANGLE] || spec->values[SPEC_WITH];
}
/* The same with names as sources have them, whatever demangle: says. */
int tree_plain_profile(const struct ask *a, const struct place *p, unsigned needs,
		       struct profile **out);

/* Is a symbol called so, as it is or demangled? */
int tree_has_symbol(const struct ask *a, const struct place *p, const char *name,
		    bool *found);
/* What the catalog knows of a place's files, whatever symbols are asked for. */
int tree_pairs(const struct ask *a, const struct place *p, struct profile **out);

/* Gives back the profiles of a session, and of sums that have it, see tree_forget(). */
void tree_forget_profiles(struct tree *t, const char *session);

/* How the symbols of a place are listed. */
int tree_symbol_names(const struct ask *a, const struct place *p, struct names *out);

#endif
