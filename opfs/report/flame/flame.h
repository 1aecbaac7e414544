/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_FLAME_FLAME_H
#define OPFS_REPORT_FLAME_FLAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/viewer.h"
#include "opfs/profile/calltree.h"

/*
 * Flame graphs: an SVG file that is complete without its script, which adds zoom, search
 * and keys.  Frames of less than half a pixel are left out, and how many samples that
 * hides is told.
 */
struct flame_options {
	size_t class;                 /* which column of the tree is drawn */
	const char *title;            /* "current/event:CYCLES/image:/bin/ls" */
	const char *const *subtitles; /* lines below it */
	size_t nr_subtitles;
	bool icicle; /* roots on top */
	/* Colours tell how shares of all samples changed since the tree's older side;
	 * widths are the newer one's. */
	bool diff;
};

/* Appends the file to @out.  Any bytes may be in names and titles: what XML cannot hold
 * or a line has no room for is replaced or cut.  0, -ENOMEM, or -EINTR if the viewer has
 * gone. */
int flame_draw(const struct calltree *t, const struct flame_options *o,
	       const struct viewer *v, struct strbuf *out, struct err *err);

#endif
