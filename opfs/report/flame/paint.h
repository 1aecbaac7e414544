/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_FLAME_PAINT_H
#define OPFS_REPORT_FLAME_PAINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "opfs/profile/calltree.h"

/*
 * What colours mean, by the names of classes in flame.css: hues are kinds of code, and
 * shades tell functions apart, the same one for a name everywhere.  In a comparison red
 * shares grew and blue ones shrank, the stronger the more.
 */
struct flame_paint {
	const struct calltree *t;
	size_t class;
	bool diff;
	unsigned seen; /* a bit for each enum frame_kind that has been painted */
};

/* The class of a node's frame: at most 2 letters. */
const char *flame_paint_class(struct flame_paint *p, uint32_t node, char room[3]);

/* How many percent of all samples are in a node and below it, and were. */
double flame_paint_share(const struct flame_paint *p, uint32_t node);
double flame_paint_old_share(const struct flame_paint *p, uint32_t node);

/* A line that explains the colours that have been used, at the origin. */
void flame_paint_legend(const struct flame_paint *p, struct strbuf *out);

#endif
