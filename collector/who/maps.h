/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_MAPS_H
#define COLLECTOR_WHO_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"

/*
 * The executable mappings of address spaces.  The kernel tells what is mapped, not what
 * is unmapped: a new mapping ends whatever it overlaps.  A fork shares its parent's
 * space until one of them changes it.
 */
struct coll_sighting; /* collector/who/images.h */
struct coll_image;

struct coll_map {
	uint64_t start, end; /* end is behind the last byte */
	uint64_t file_off;   /* of @start */
	/* a file, or NULL for memory without one, which @label names ("anon",
	 * "[heap]") */
	struct coll_sighting *file;
	const char *label; /* interned: lives as long as the program */
	/* the image of memory without a file, for the process that asked last */
	uint32_t anon_tgid;
	struct coll_image *anon;
};

/* Is memory of that label the kernel's own code for processes? */
static inline bool coll_label_is_kernels(const char *label)
{
	return !strncmp(label, "[v", 2) || !strcmp(label, "[uprobes]");
}

enum { COLL_SPACE_LASTS = 32 };

struct coll_space {
	unsigned refs;
	size_t nr, cap;
	struct coll_map *maps; /* by address, never overlapping */
	/* where the last search ended for a page whose number ends like this */
	uint32_t last[COLL_SPACE_LASTS];
};

struct coll_space *coll_space_new(void);
struct coll_space *coll_space_get(struct coll_space *s);
void coll_space_put(struct coll_space *s);

/**
 * coll_space_add - maps
 * @sp: the process's space; replaced by a copy if others share it
 * @map: copied; @start < @end
 * Returns 0 or -ENOMEM (nothing changed).
 */
int coll_space_add(struct coll_space **sp, const struct coll_map *map);

/* The mapping at an address, or NULL.  Dies with the next change of the space. */
struct coll_map *coll_space_find(struct coll_space *s, uint64_t addr);

#endif
