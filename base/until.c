/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/until.h"

#include "base/clock.h"

int64_t until_in(unsigned seconds)
{
	return (int64_t)(clock_mono_ns() / CLOCK_NS_PER_S) + seconds;
}

bool until_over(int64_t until)
{
	return until && (int64_t)(clock_mono_ns() / CLOCK_NS_PER_S) >= until;
}

int64_t until_both(int64_t a, int64_t b)
{
	if (!a || !b)
		return a ? a : b;
	return a < b ? a : b;
}
