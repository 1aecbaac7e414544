/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moves GO MS: once the file GO is there ("-": at once) it works for so much CPU time in
 * a mapping of its own code, moves that elsewhere, which the kernel tells nobody, and
 * works there for as long.  Where the code was there is then other memory.  Prints the
 * CPU time of both phases in milliseconds.
 */
#include "cputime.h"

#include <stdio.h>
#include <stdlib.h>

#include "alone.h"

WORK(work, ALONE)
WORK(warm, __attribute__((noinline, noclone)))

int main(int argc, char **argv)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	double ms = argc > 2 ? atof(argv[2]) : 1000, first, second;
	work_fn *here = map_alone(work);
	void *there = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc < 2 || !here || there == MAP_FAILED)
		return 2;
	warm_until(argv[1], warm);
	first = work_ms(here, ms);
	if (mremap((void *)here, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, there) !=
	    there)
		return 1;
	if (mmap((void *)here, page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		return 1;
	second = work_ms((work_fn *)there, ms);
	printf("%.0f %.0f\n", first, second);
	return 0;
}
