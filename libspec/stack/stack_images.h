/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_STACK_STACK_IMAGES_H
#define LIBSPEC_STACK_STACK_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/name/name.h"

/*
 * The images of a table of stacks: "stacks/images", text, first line
 * "# opfs stack-images 1", then a line an image: its number, "user" or "kernel", and its
 * name as in names of sample files, "{root}/usr/bin/ls".
 */
struct spec_stack_image {
	struct spec_image name; /* kind SPEC_IMAGE_NONE: no image has this number */
	bool kernel;
};

struct spec_stack_images {
	struct spec_stack_image *by_number;
	size_t nr; /* the highest number + 1, some twice as many as rows; 0: none */
	size_t nr_rows, cap;
};

/* @stacks_fd: the directory.  A missing table is empty.  0, -EBADMSG, another -errno. */
int spec_stack_images_read(int stacks_fd, struct spec_stack_images *out, struct err *err);
void spec_stack_images_fini(struct spec_stack_images *t); /* accepts a zeroed one */

/* The highest number that the next row may have: they are given out one after the other,
 * but a disk may have lost some rows. */
uint32_t spec_stack_images_bound(const struct spec_stack_images *t);

/* Appends a row, in one write.  0 or -errno. */
int spec_stack_images_append(int stacks_fd, uint32_t number,
			     const struct spec_image *name, bool kernel, struct err *err);

/* Waits until all rows are on the disk.  0 or -errno. */
int spec_stack_images_sync(int stacks_fd, struct err *err);

#endif
