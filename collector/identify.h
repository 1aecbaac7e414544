/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_IDENTIFY_H
#define COLLECTOR_IDENTIFY_H

#include <stdint.h>

#include "collector/images.h"

/* What could be learnt of a mapped file. */
struct coll_identity {
	struct spec_build_id build_id;
	uint64_t mtime, size, inode; /* 0: unknown */
	uint32_t dev_major, dev_minor;
	const char *note;            /* constant, or NULL */
};

/**
 * coll_identify - finds the file of a sighting
 * Looks at the path, through the roots of the processes, and at the mapping itself, and
 * takes the first file with the build-id (or, without one, the inode) that the kernel
 * reported.  Without such a file only the build-id is known, and the note says "gone".
 * A file system that does not answer is given up after COLL_ASIDE_MS, and not asked again
 * for a minute: the note says "unreachable".
 * @tgid, @parent: processes, or 0
 */
void coll_identify(const struct coll_sighting *s, uint32_t tgid, uint32_t parent,
		   struct coll_identity *out);

#endif
