/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_TABLES_H
#define COLLECTOR_WHO_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"
#include "collector/who/asker.h"
#include "collector/who/images.h"
#include "collector/who/jit.h"
#include "collector/who/maps.h"
#include "libcfi/table.h"

/*
 * Unwind tables of the binaries that stacks lead through.  A helper in a sandbox makes
 * each of them, once.  If there are too many, those go that were not used lately; if all
 * were, another one is not taken, and asked for again a minute later.
 */
enum { COLL_TABLES_MAX_BYTES = 64 << 20, COLL_TABLES_MAX = 1 << 14 };

struct coll_table; /* of an image */

struct coll_tables {
	struct map_u64 by_image; /* id of an image -> struct coll_table */
	struct coll_asker *asker;
	struct coll_images *images; /* borrowed */
	struct coll_jit *jit;       /* borrowed */
	size_t bytes;
	uint64_t answers; /* how many questions were answered */
};

/* @program: what is executed for helpers; NULL: this program.  0 or -ENOMEM. */
int coll_tables_init(struct coll_tables *t, struct coll_images *images,
		     struct coll_jit *jit, const char *program);
void coll_tables_fini(struct coll_tables *t);

/**
 * coll_tables_find - the table of a mapping's code
 * @tgid, @parent: processes that have it mapped, or 0
 * @waits: set to true if it is being made, or its file being identified; else untouched
 * Returns NULL if there is none, or none yet.  Dies with the next answer that is taken.
 */
const struct cfi_table *coll_tables_find(struct coll_tables *t, struct coll_map *map,
					 uint32_t tgid, uint32_t parent, bool *waits);

/**
 * coll_tables_made - the table of code that a process makes at run time, of one region
 * @id: of the region's image
 * @key: where a stack leads to in it; if nothing is known of that, the process's files
 * are looked at again, not too often, and nothing waits for that
 * Otherwise as coll_tables_find().
 */
const struct cfi_table *coll_tables_made(struct coll_tables *t, uint32_t id,
					 uint32_t tgid,
					 const struct coll_jit_region *region,
					 uint64_t key, bool *waits);

#endif
