/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/join.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

/* @to: of each row, where it is now. */
static int join_rows(struct profile_build *b, uint32_t *to)
{
	CLEANUP(map_fini) struct map by_name = { 0 };
	size_t nr_classes = b->p->nr_classes, kept = 0;

	for (size_t i = 0; i < b->rows.len; i++) {
		const struct profile_row *row = &b->rows.data[i];
		struct profile_row *same;
		uint64_t at = kept;

		if (b->p->images[row->image].jit) {
			size_t len = strlen(row->name);

			if (map_get(&by_name, row->name, len, &at)) {
				same = &b->rows.data[at];
				profile_add_samples(same->samples, row->samples,
						    nr_classes);
				profile_add_samples(profile_children(same, nr_classes),
						    profile_children(row, nr_classes),
						    nr_classes);
				to[i] = (uint32_t)at;
				continue;
			}
			if (map_set(&by_name, row->name, len, kept))
				return -ENOMEM;
		}
		to[i] = (uint32_t)kept;
		b->rows.data[kept++] = *row;
	}
	b->rows.len = kept;
	return 0;
}

static int join_arcs(struct profile_build *b, const uint32_t *to)
{
	CLEANUP(map_u64_fini) struct map_u64 by_ends = { 0 };
	size_t kept = 0;

	for (size_t i = 0; i < b->arcs.len; i++) {
		struct profile_arc arc = b->arcs.data[i];
		uint64_t ends, at;

		arc.caller = to[arc.caller];
		arc.callee = to[arc.callee];
		ends = (uint64_t)arc.caller << 32 | arc.callee;
		if (map_u64_get(&by_ends, ends, &at)) {
			profile_add_samples(b->arcs.data[at].samples, arc.samples,
					    b->p->nr_classes);
			continue;
		}
		if (map_u64_set(&by_ends, ends, kept))
			return -ENOMEM;
		b->arcs.data[kept++] = arc;
	}
	b->arcs.len = kept;
	return 0;
}

int profile_join_jit(struct profile_build *b)
{
	CLEANUP(free_ptr) uint32_t *to = NULL;
	bool any = false;

	for (size_t i = 0; i < b->p->cat->nr_images; i++)
		any |= b->p->images[i].jit;
	if (!any || !b->q->merge_lib || (b->p->loaded & PROFILE_HITS) == PROFILE_HITS)
		return 0;
	to = calloc(b->rows.len + 1, sizeof(*to));
	return to && !join_rows(b, to) && !join_arcs(b, to) ? 0 : profile_no_memory(b);
}
