/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_HELD_H
#define OPFS_PROFILE_HELD_H

#include <sys/types.h>

#include "base/vec.h"
#include "libspec/session/images.h"

/* Files of containers that may be gone by now: somebody holds them open for us. */
struct profile_held {
	VEC(struct profile_held_file {
		int fd; /* borrowed */
		dev_t dev;
		ino_t ino;
	})
	files;
};

/* Adds an open file, which nobody inherits from this process.  0; -EINVAL: it is none, or
 * not a regular one; -ENOMEM. */
int profile_held_add(struct profile_held *h, int fd);
/* The descriptor of an image's file; -1: it is not among them.  @h: NULL: there are
 * none. */
int profile_held_find(const struct profile_held *h, const struct spec_image_row *row);
void profile_held_fini(struct profile_held *h);

#endif
