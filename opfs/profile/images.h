/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_IMAGES_H
#define OPFS_PROFILE_IMAGES_H

#include "opfs/profile/build.h"

/**
 * profile_load_images - fills p->images: every binary is opened once, several at a time
 * Returns 0, -EINTR or -ENOMEM; an image without symbols has a state and a reason.
 */
int profile_load_images(struct profile_build *b);

/* Whether only PLT entries have names: others count for the image itself. */
static inline bool profile_stripped(const struct sym_table *t)
{
	return t->state == SYM_NO_SYMBOLS;
}

#endif
