/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CATALOG_PARTS_H
#define OPFS_CATALOG_PARTS_H

#include <stdbool.h>

#include "opfs/catalog_build.h"

/*
 * Catalogs of single sessions that will never change (they have a MANIFEST), remembered
 * for sums of sessions: what goes on in one session makes none of the others be read
 * anew.  Thread safe.
 */
struct catalog_parts *catalog_parts_new(void); /* NULL: out of memory */
void catalog_parts_free(struct catalog_parts *p);

/**
 * catalog_parts_read - adds a session to a sum
 * What is remembered of it, or else it is read, and remembered.
 * @samples_fd: directory samples/
 * Returns 0; -EAGAIN: it may change; or another -errno.
 */
int catalog_parts_read(struct catalog_parts *p, struct catalog_build *b,
		       int session_dir_fd, int samples_fd, const char *name);
/* After a sum was made: forgets what is long unused, or is too much. */
void catalog_parts_trim(struct catalog_parts *p);

/* Is what was read of a sealed session what its directory still holds? */
bool catalog_parts_is_same(const struct catalog_dir *d, int samples_fd);

#endif
