/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_REGIONS_H
#define COLLECTOR_WHO_REGIONS_H

#include <stdint.h>

#include "libspec/name/name.h"

/**
 * coll_region_hide - what memory without a file is called in names
 * @start: its first address, @end: behind its last
 * @img: has label and process; gets made-up addresses of the same size, the same whenever
 *	this collector is asked for the region, and as a rule others for another one
 * They do not tell where it is: the table of regions does (libspec/session/regions.h).
 */
void coll_region_hide(uint64_t start, uint64_t end, struct spec_image *img);

#endif
