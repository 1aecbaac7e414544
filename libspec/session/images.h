/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_IMAGES_H
#define LIBSPEC_SESSION_IMAGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/err.h"
#include "base/map.h"

/*
 * The table samples/SESSION/images: which binary a stored name really was.  Text, one
 * image a line, fields separated by tabs and %-escaped, first line "# opfs images 1":
 *	stored-name real-path build-id mtime-seconds size device inode note
 * build-id in hexadecimal or "-"; device "major:minor" or "-"; note free or "-".
 * Appended to line by line with O_APPEND; of several lines for a name the last counts;
 * a line cut short (a kill) is ignored.
 */

struct spec_image_row {
	/* as spec_image_show() gives it; "PATH#BUILDID8" for a second binary */
	char *stored;
	char *real_path; /* where it was: /proc/PID/root paths are not kept */
	struct build_id build_id;
	uint64_t mtime, size, inode;
	uint32_t dev_major, dev_minor;
	char *note; /* NULL: none; "deleted", "container PID", ... */
};

struct spec_images {
	struct spec_image_row *rows;
	size_t nr, cap;
	struct map by_stored; /* stored -> index */
};

#define SPEC_IMAGE_CONTAINER "container "

/**
 * spec_images_read - reads the table
 * Rows in the order of their first line.  A session without the table has no rows.
 * Returns 0, -EBADMSG if it is not a table of this version, -EFBIG, or -errno.
 */
int spec_images_read(int session_fd, struct spec_images *out, struct err *err);
/* The row of a stored name, or NULL.  Dies with @t. */
const struct spec_image_row *spec_images_find(const struct spec_images *t,
					      const char *stored);
/* The process of a container that the image was found in, by the number that it had;
 * 0: it was found at its path.  The note of such an image is "container PID". */
uint32_t spec_image_container(const struct spec_image_row *row);
/* Appends one row to the table's file (made if missing).  O_APPEND, one write. */
int spec_images_append(int session_fd, const struct spec_image_row *row, struct err *err);
/* Accepts a zeroed table. */
void spec_images_fini(struct spec_images *t);

#endif
