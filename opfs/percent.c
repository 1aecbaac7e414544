/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/percent.h"

#include <stdio.h>
#include <string.h>

double percent_of(uint64_t part, uint64_t whole)
{
	if (!whole)
		return 0;
	/* The order of the operations is OProfile's: the last digit depends on it. */
	return (double)part / (double)whole * 100.0;
}

void percent_format(double percent, char out[PERCENT_MAX])
{
	if (percent == 0) {
		strcpy(out, "      0");
	} else if (percent > 0.001) {
		snprintf(out, PERCENT_MAX, "%7.4f", percent);
		if (!strcmp(out, "100.0000"))
			out[7] = '\0';
	} else {
		snprintf(out, PERCENT_MAX, "%7.1e", percent);
	}
}
