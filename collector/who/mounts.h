/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_MOUNTS_H
#define COLLECTOR_WHO_MOUNTS_H

#include <stdint.h>

#include "base/vec.h"

/* On which file system a path is, found without asking that file system. */
struct coll_mount {
	char *dir; /* heap */
	uint32_t dev_major, dev_minor;
};

struct coll_mounts {
	VEC(struct coll_mount) list;
	uint64_t read_ns; /* CLOCK_MONOTONIC; 0: not yet */
};

/* The device of what is mounted nearest above @path, as this process sees it; 0:0 if that
 * cannot be told.  Mounts are read anew when they may be a second old. */
void coll_mounts_device(struct coll_mounts *m, const char *path, uint32_t *dev_major,
			uint32_t *dev_minor);
void coll_mounts_fini(struct coll_mounts *m);

/* \ooo, as /proc writes blanks and newlines in names, becomes what it stands for. */
void coll_unescape(char *s);

#endif
