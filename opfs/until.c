/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/until.h"

#include <time.h>

static int64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

int64_t until_in(unsigned seconds)
{
	return now_s() + seconds;
}

bool until_over(int64_t until)
{
	return until && now_s() >= until;
}

int64_t until_both(int64_t a, int64_t b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}
