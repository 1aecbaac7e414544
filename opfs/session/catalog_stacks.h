/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_STACKS_H
#define OPFS_SESSION_CATALOG_STACKS_H

#include "opfs/session/catalog_build.h"

/*
 * The stacks of a session: its table of frames is opened, the sample files beside that
 * are summed, and what they hold is noted at the files of the same names.  A table that
 * cannot be used is reported, and the session is one without stacks.
 */

/* Opens the table of @d, before its sample files are read. */
int catalog_stacks_open(struct catalog_build *b, struct catalog_dir *d);
/*
 * Reads the sample files beside it, and then the table of images.  @first: the index of
 * the first flat file of @d.  Of a live session files have no more samples than their
 * flat ones had a moment ago, so that all reports of a generation have the same total.
 */
int catalog_stacks_read(struct catalog_build *b, struct catalog_dir *d, size_t first);
/* Finds, or adds, the images of the frames. */
int catalog_stacks_images(struct catalog_build *b, struct catalog_dir *d);

#endif
