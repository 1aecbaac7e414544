/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_FLAME_LAYOUT_H
#define OPFS_REPORT_FLAME_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "base/viewer.h"
#include "opfs/profile/calltree.h"

/*
 * Which nodes of a tree have a frame in its flame graph, and where.  Children stand side
 * by side above their caller, from its left edge on; what its own samples take stays free
 * at its right.  A node too narrow to be seen has no frame, nor has any below it.
 */

/* Lengths are in tenths of a pixel.  Edges are rounded, not widths: so frames neither
 * overlap nor leave their caller's width. */
enum { FLAME_WIDTH = 11800, FLAME_MIN_WIDTH = 5 };
/* Where more frames would be drawn, only wider ones are: a page of 1 MB is enough. */
enum { FLAME_MAX_FRAMES = 8192 };

struct flame_frame {
	uint32_t node;
	uint32_t depth; /* 0: node 0 */
	uint32_t x, width;
	uint64_t samples; /* to its left */
};

struct flame_layout {
	VEC(struct flame_frame) frames; /* row by row from node 0, each from the left */
	uint64_t hidden;                /* samples in functions that have no frame */
	uint64_t total;
	uint32_t min_width; /* of what is drawn */
};

/* Column @class of the tree; without samples there are no frames.  0, -ENOMEM, or -EINTR
 * if the viewer has gone. */
int flame_layout_init(struct flame_layout *l, const struct calltree *t, size_t class,
		      const struct viewer *v);
void flame_layout_fini(struct flame_layout *l);
/* How many rows there are. */
size_t flame_layout_rows(const struct flame_layout *l);

#endif
