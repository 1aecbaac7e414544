/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_IMAGES_H
#define OPK_IMAGES_H

#include <linux/types.h>

struct file;
struct mm_struct;

/*
 * Cookies of images.  A cookie stands for one inode at one path, in one state (mtime,
 * size).  The table only grows during a run, to at most as many as the parameter
 * "images" says, and is emptied before the next run.  It holds no references: an entry
 * that an interrupt makes keeps the file only until opk_images_define(), milliseconds
 * later, has read its path and build-id.
 */

/* Empties the table; not during a run.  0 or -ENOMEM. */
int opk_images_reset(void);
void opk_images_free(void);

/* The cookie of a file that the caller keeps alive; not in an NMI.  0: no room. */
u32 opk_image_of(struct file *file);

/*
 * The cookie of the executable of @mm, which the caller keeps alive.  In an NMI only
 * images that are already known are found.  0: none, or not known.
 */
u32 opk_image_of_exe(struct mm_struct *mm);

/*
 * Reads path and build-id of all images that have got a cookie, and drops their files.
 * Process context; takes a mutex.  Called before samples are written to the event
 * buffer, so that readers know every cookie that they see.
 */
void opk_images_define(void);
bool opk_image_defined(u32 cookie);

u32 opk_images_count(void);

/*
 * Writes the OPK_IMAGE record of the first defined cookie from *@next on, and moves
 * *@next behind it.  Returns the number of words, 0 if there is none, -ENOSPC if @room
 * is too small.
 */
int opk_image_tell(u32 *next, u64 *words, unsigned int room);

#endif
