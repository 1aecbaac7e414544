/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_HELD_H
#define COLLECTOR_WHO_HELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/*
 * Files of containers, held open until their names are kept: a mount namespace is gone
 * with its last process.  They keep the file system busy, so there is a bound, and who
 * collects for days lets go of them soon after their process has ended.
 */
struct coll_held_file {
	int fd;        /* of O_PATH */
	uint32_t tgid; /* it was found through the root of */
};

struct coll_held {
	VEC(struct coll_held_file) files;
	bool none; /* nobody will ask for them */
};

/* Descriptors; the caller's.  Closing one may be what unmounts a file system, and takes
 * as long: not for a thread that takes samples. */
typedef VEC(int) coll_held_fds;

/* Takes over @fd: holds it, or closes it if there are too many. */
void coll_held_add(struct coll_held *h, int fd, uint32_t tgid);
/* Hands out those whose process has ended.  Without memory another time. */
void coll_held_take_ended(struct coll_held *h, coll_held_fds *out);
/* Appends a second descriptor for each; without memory, or descriptors, for some. */
void coll_held_copy(const struct coll_held *h, coll_held_fds *out);
void coll_held_fini(struct coll_held *h);
void coll_held_close(coll_held_fds *fds);

#endif
