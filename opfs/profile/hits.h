/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_HITS_H
#define OPFS_PROFILE_HITS_H

#include "base/sort.h"
#include "opfs/profile/build.h"

/* Limit on places with samples in a profile: 64 Mi, which take 2 GiB. */
#define PROFILE_MAX_HITS (64u << 20)
#define PROFILE_MAX_HIT_BYTES (2ull << 30)

/* Samples by offset of one image in one application. */
struct profile_spots {
	VEC(struct sort_item) list; /* key: the offset; a: samples; b: class */
	struct sort_item *spare;    /* as long as @list, used to sort */
	size_t nr_spare;
};
void profile_spots_fini(struct profile_spots *s);
/*
 * Sorts @s by offset; several spots of one offset and class stay several.  0 or -ENOMEM.
 */
int profile_spots_sort(struct profile_spots *s);

/**
 * profile_spots_share - distributes sorted spots among rows
 * @slots: for every distinct offset, in order, the slot that counts it
 * @row_of_slot: for each of those slots the index of its row in b->rows
 * Returns 0, -ENOMEM, -E2BIG.
 */
int profile_spots_share(struct profile_build *b, const struct profile_spots *s,
			const uint32_t *slots, size_t nr_offs,
			const uint32_t *row_of_slot);

#endif
