/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/vdso.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/cleanup.h"

bool sym_vdso_image(void **image, size_t *size)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	CLEANUP(close_file) FILE *maps = start ? fopen("/proc/self/maps", "re") : NULL;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps)) {
		uintptr_t lo, hi;

		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &lo, &hi) != 2 || lo != start)
			continue;
		*image = (void *)start; /* libelf wants it writable but does not write */
		*size = hi - lo;
		return true;
	}
	return false;
}
