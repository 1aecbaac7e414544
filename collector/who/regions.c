/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/regions.h"

#include <string.h>

#include "base/map.h"

/* User addresses, of 47 bits, that begin a page of 4 KiB. */
#define PAGE_BITS 12
#define NR_PAGES ((uint64_t)1 << 35)

void coll_region_hide(uint64_t start, uint64_t end, struct spec_image *img)
{
	/* map_hash() has a secret of this process: whoever knows what it made of his own
	 * regions learns nothing of others */
	const uint64_t region[] = { img->tgid, start, end,
				    map_hash(img->name, strlen(img->name)) };
	uint64_t page = map_hash(region, sizeof(region)) % NR_PAGES;

	img->start = page << PAGE_BITS;
	if (__builtin_add_overflow(img->start, end - start - 1, &img->end)) {
		img->start = 0;
		img->end = end - start - 1;
	}
}
