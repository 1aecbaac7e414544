/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_IMAGES_H
#define OPK_IMAGES_H

#include <linux/types.h>
#include <linux/uidgid.h>

struct file;
struct mm_struct;

/*
 * Cookies of images.  A cookie stands for one inode at one path, in one state (mtime,
 * size).  The table has as many entries as the parameter "images" says.  An entry holds
 * its file until the synchroniser has told what it is, milliseconds later, and nothing
 * afterwards.  Where room gets scarce, entries go that had no samples for some time; a
 * cookie is not used for anything else afterwards.
 *
 * Whoever asks for a cookie must be an RCU reader (an interrupt is one) until the record
 * that names it is in the CPU's buffer.
 */

/* Empties the table; not during a run.  0 or -ENOMEM. */
int opk_images_reset(void);
void opk_images_free(void);

/*
 * The cookie of a file that the caller keeps alive; not in an NMI.  @user: who pays for
 * it (see shares.h).  0: no room.
 */
u32 opk_image_of(struct file *file, kuid_t user);

/*
 * The cookie of the executable of @mm, which the caller keeps alive.  In an NMI only
 * images that are already known are found.  0: none, or not known.
 */
u32 opk_image_of_exe(struct mm_struct *mm, kuid_t user);

/* Notes that a cookie from before is used again.  false: it has gone.  Any context. */
bool opk_image_again(u32 cookie);

/*
 * The rest is the synchroniser's.
 *
 * opk_image_tell() makes the record of an image that was not told yet: the number of
 * words, 0 if it was told, -ENOENT if its file has gone.  @words: OPK_IMAGE_WORDS.
 * opk_image_told() must follow once the record is in the event buffer.
 */
int opk_image_tell(u32 cookie, u64 *words);
void opk_image_told(u32 cookie);

/*
 * Around the reading of all CPUs' buffers: lets files go that nobody wanted to be told
 * of, and calls @gone with the cookie of each entry that is free again: no record names
 * it any more.
 */
void opk_images_before(void);
void opk_images_after(void (*gone)(u32 cookie));
/* A quarter of a second has passed: chooses entries that have to go. */
void opk_images_tick(void);
/* True while the table holds files. */
bool opk_images_hold(void);

/* Figures: entries in use, and entries that had to go since the run began. */
u64 opk_images_count(void);
u64 opk_images_gone(void);

#endif
