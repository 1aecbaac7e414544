/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * many_maps GO MAPPINGS MS: maps a page of its own code so many times, executable, each a
 * mapping of its own; once the file GO is there ("-": at once) it works there, in each
 * mapping in turn, for so much CPU time.  Prints the CPU time of that in milliseconds.
 */
#include "cputime.h"

#include <stdio.h>
#include <stdlib.h>

#include "alone.h"

WORK(work, ALONE)
WORK(warm, __attribute__((noinline, noclone)))

int main(int argc, char **argv)
{
	size_t nr = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	double ms = argc > 3 ? atof(argv[3]) : 0, used = 0;
	work_fn **at = calloc(nr + 1, sizeof(*at));

	if (!nr || !at)
		return 2;
	for (size_t i = 0; i < nr; i++) {
		/* one offset again and again: neighbours cannot merge */
		at[i] = map_alone(work);
		if (!at[i])
			return 1;
	}
	warm_until(argv[1], warm);
	while (used < ms)
		for (size_t i = 0; i < nr && used < ms; i += 1 + nr / 997)
			used += work_ms(at[i], 0.3);
	printf("%.0f\n", used);
	return 0;
}
