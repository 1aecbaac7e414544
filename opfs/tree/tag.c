/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/tag.h"

#include <stdlib.h>
#include <string.h>

#include "opfs/tree/browse.h"
#include "opfs/tree/diff.h"
#include "opfs/tree/present.h"
#include "opfs/tree/sessions.h"
#include "opfs/tree/value.h"

int tree_value(const struct ask *a, const struct place *from, const struct spec_tag *tag,
	       const char *raw, struct place *to)
{
	if (tag->id == SPEC_DIFF)
		return tree_diff(a, from, raw, to);
	if (spec_tag_presents(tag))
		return tree_present(a, from, tag, raw, to);
	if (tag->id == SPEC_SESSION_EXCLUDE)
		return tree_session_exclude(a, from, raw, to);
	if (tree_is_base_tag(from, tag))
		return tree_base_value(a, from, tag, raw, to);
	if (tag->kind == SPEC_TAG_FRAMES) {
		int rc = tree_browse_value(a, from, tag, raw, to);

		/* the older side may have them */
		return rc == -ENOENT && from->base
			       ? tree_both_value(a, from, tag, raw, to)
			       : rc;
	}
	return tree_select_value(a, from, tag, raw, to);
}

int tree_value_join(const struct ask *a, const struct place *from, const char *name,
		    struct place *to)
{
	if (from->of_base)
		return tree_base_join(a, from, name, to);
	return from->base ? tree_both_join(a, from, name, to)
			  : tree_select_join(a, from, name, to);
}
