/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_IMAGE_RECORD_H
#define OPK_IMAGE_RECORD_H

#include <linux/types.h>

struct file;

enum { OPK_MAX_PATH = 4000, OPK_IMAGE_WORDS = 2 + 9 + OPK_MAX_PATH / 8 };

/*
 * Makes the OPK_IMAGE record of a file: what it is, its path as the initial namespace's
 * root sees it, and its build-id.  Called by the synchroniser only, in a kernel thread,
 * whose root that is.  @words: OPK_IMAGE_WORDS.  Returns the number of words.
 */
unsigned int opk_image_record(const struct file *file, u32 cookie, u64 *words);

#endif
