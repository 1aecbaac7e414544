/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/flame/layout.h"

#include <errno.h>

static uint32_t edge(const struct flame_layout *l, uint64_t samples)
{
	return (uint32_t)((double)samples / (double)l->total * FLAME_WIDTH + 0.5);
}

static bool too_narrow(const struct flame_layout *l, uint64_t samples)
{
	return (double)samples / (double)l->total * FLAME_WIDTH < l->min_width;
}

static int add(struct flame_layout *l, uint32_t node, uint32_t depth, uint64_t left,
	       uint64_t samples)
{
	uint32_t x = edge(l, left);

	return vec_push(&l->frames,
			((struct flame_frame){ .node = node,
					       .depth = depth,
					       .x = x,
					       .width = edge(l, left + samples) - x,
					       .samples = left }));
}

static int add_children(struct flame_layout *l, const struct calltree *t, size_t class,
			const struct flame_frame *of)
{
	uint64_t left = of->samples;
	uint32_t depth = of->depth + 1;
	int rc = 0;

	for (uint32_t i = t->nodes[of->node].first; i && !rc; i = t->nodes[i].next) {
		uint64_t samples = t->total[i * t->nr_classes + class];

		if (too_narrow(l, samples))
			l->hidden += samples;
		else
			rc = add(l, i, depth, left, samples);
		left += samples;
	}
	return rc;
}

static int add_all(struct flame_layout *l, const struct calltree *t, size_t class,
		   const struct viewer *v)
{
	int rc = add(l, 0, 0, 0, l->total);

	for (size_t i = 0; i < l->frames.len && !rc; i++) {
		struct flame_frame f = l->frames.data[i]; /* which may move */

		if (l->frames.len > FLAME_MAX_FRAMES)
			break;
		rc = i % 1024 == 0 && viewer_gone(v) ? -EINTR
						     : add_children(l, t, class, &f);
	}
	return rc;
}

int flame_layout_init(struct flame_layout *l, const struct calltree *t, size_t class,
		      const struct viewer *v)
{
	int rc = 0;

	*l = (struct flame_layout){ .total = t->total[class],
				    .min_width = FLAME_MIN_WIDTH };
	if (!l->total)
		return 0;
	rc = add_all(l, t, class, v);
	while (!rc && l->frames.len > FLAME_MAX_FRAMES) {
		l->frames.len = 0;
		l->hidden = 0;
		l->min_width *= 2;
		rc = add_all(l, t, class, v);
	}
	if (rc)
		flame_layout_fini(l);
	return rc;
}

void flame_layout_fini(struct flame_layout *l)
{
	vec_fini(&l->frames);
}

size_t flame_layout_rows(const struct flame_layout *l)
{
	return l->frames.len ? l->frames.data[l->frames.len - 1].depth + 1 : 0;
}
