/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/meminfo.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/cleanup.h"

uint64_t meminfo_available(void)
{
	CLEANUP(close_file) FILE *f = fopen("/proc/meminfo", "re");
	uint64_t kib = 0;
	char line[128];

	while (f && !kib && fgets(line, sizeof(line), f))
		sscanf(line, "MemAvailable: %" SCNu64, &kib);
	return kib ? kib << 10 : UINT64_MAX;
}
