/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_INDEX_H
#define OPFS_SESSION_CATALOG_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"

/*
 * Flat sample files by what tags choose them by, so that finding a few does not take a
 * look at all.
 */
enum catalog_index_id {
	CATALOG_BY_APP,   /* keys are indices into catalog.images */
	CATALOG_BY_IMAGE, /* likewise */
	CATALOG_BY_TGID,
	CATALOG_BY_TID,
	CATALOG_BY_CPU,
	CATALOG_NR_INDICES
};

struct catalog;
struct catalog_file;

struct catalog_index {
	struct map_u64 groups; /* key -> group */
	uint32_t *first;       /* of each group where it begins in @files, and the end */
	uint32_t *files;       /* indices into catalog.files; of a group ascending */
};

/* Fills c->index.  0 or -ENOMEM. */
int catalog_index_all(struct catalog *c);
void catalog_index_fini(struct catalog *c);

/* Its group of files, ascending, and how many there are. */
const uint32_t *catalog_indexed(const struct catalog *c, enum catalog_index_id id,
				uint64_t key, size_t *nr);

#endif
