/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_SIGHTING_H
#define COLLECTOR_WHO_SIGHTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libspec/session/images.h"

struct coll_image; /* collector/who/images.h */

/* What a mapping says of its file. */
struct coll_sighting {
	struct coll_image *image; /* NULL: nobody has asked for it yet */
	bool asked;               /* its file is being looked for */
	char *path;
	bool deleted; /* as the kernel said; the mark is not part of @path */
	uint64_t inode, start, end; /* of the first mapping seen */
	uint32_t dev_major, dev_minor;
	uint64_t mtime, size; /* as the source said; 0: unknown */
	struct build_id build_id;
	uint64_t again_ns; /* CLOCK_MONOTONIC: looked for anew then; 0: no need */
	bool kept;         /* by the sweep that is going on */
	size_t key_len;
	char *key; /* in the table */
};

#endif
