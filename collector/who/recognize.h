/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_RECOGNIZE_H
#define COLLECTOR_WHO_RECOGNIZE_H

#include "collector/who/images.h"

/*
 * Which binary a mapping really is.  A helper looks at its file when its first sample
 * comes, or at once, for processes that may soon be gone.
 */

/**
 * coll_images_identify - which image it is
 * @tgid, @parent: processes through whose root the file may be found; 0: none
 * Returns the image, which is pending as long as the question is open, or NULL if out of
 * memory.  What could not be looked at is asked for again when somebody wants it a minute
 * later.
 */
struct coll_image *coll_images_identify(struct coll_images *t, struct coll_sighting *s,
					uint32_t tgid, uint32_t parent);

/* The lane (collector/who/asker.h) of questions that open its file. */
uint64_t coll_images_lane(struct coll_images *t, const struct coll_sighting *s);

/* The image of a kernel file: /proc/kallsyms or a vmlinux. */
struct coll_image *coll_images_kernel_file(struct coll_images *t, const char *path,
					   const struct build_id *id, uint64_t mtime);

/**
 * coll_images_other - another stored name for the same image
 * For a session that already holds another binary's samples under the name.
 * Returns 0, -EEXIST if it has had another name already, -ENOMEM.
 */
int coll_images_other(struct coll_image *img);

#endif
