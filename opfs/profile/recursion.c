/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/recursion.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Walks from each frame to those that it called, so that the frames between are all that
 * were entered and not left. */
static void walk(const struct profile_stacks *s, const uint32_t *of_func,
		 const uint32_t *first, const uint32_t *next, uint32_t *open,
		 uint8_t *again)
{
	const struct profile_frame *frames = s->frames;
	uint32_t at = first[0];

	while (at) {
		again[at] = open[of_func[frames[at].func]]++ > 0;
		if (first[at]) {
			at = first[at];
			continue;
		}
		for (; at; at = frames[at].parent) {
			open[of_func[frames[at].func]]--;
			if (next[at])
				break;
		}
		at = at ? next[at] : 0;
	}
}

int recursion_find(const struct profile_stacks *s, const uint32_t *of_func, size_t nr,
		   uint8_t *again)
{
	CLEANUP(free_ptr) uint32_t *first = calloc(s->nr_frames + 1, sizeof(*first));
	CLEANUP(free_ptr) uint32_t *next = calloc(s->nr_frames + 1, sizeof(*next));
	CLEANUP(free_ptr) uint32_t *open = calloc(nr + 1, sizeof(*open));

	if (!first || !next || !open)
		return -ENOMEM;
	for (size_t i = s->nr_frames; i-- > 1;) {
		next[i] = first[s->frames[i].parent];
		first[s->frames[i].parent] = (uint32_t)i;
	}
	walk(s, of_func, first, next, open, again);
	return 0;
}
