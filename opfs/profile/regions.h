/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_REGIONS_H
#define OPFS_PROFILE_REGIONS_H

#include "opfs/profile/build.h"

/*
 * Memory without a file has an image for each region of each process: "[vdso]" of every
 * process.  Unless processes matter, all that has one label is one image here.
 */

/**
 * profile_join_regions - makes one image of all regions that are called the same
 * Of the vdso, those that are the same file.  An image that stands for several is shown
 * by the label; one region alone keeps its name, as OProfile shows it.  Offsets are those
 * in each region, but of code that was made at run time, where regions lie one behind the
 * other and so have one table of symbols.  Frames, picks and files of arcs are changed to
 * it, as well as the files of the profile's own catalog.  After profile_load_jit() and
 * profile_read_stacks().  0 or -ENOMEM.
 */
int profile_join_regions(struct profile_build *b);

/* The region of a joined image that has an offset, which then is one in it; else NULL. */
const struct spec_image *profile_region_at(const struct profile *p, uint32_t image,
					   uint64_t *off);

#endif
