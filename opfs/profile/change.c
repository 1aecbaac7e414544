/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/change.h"

#include <math.h>
#include <string.h>

enum profile_change profile_changed(const uint64_t *samples, const uint64_t *was,
				    bool gone, size_t class)
{
	if (gone || !samples[class])
		return was && was[class] ? PROFILE_GONE : PROFILE_SAME;
	return was && was[class] ? PROFILE_BOTH : PROFILE_NEW;
}

double profile_growth(uint64_t samples, uint64_t total, uint64_t was, uint64_t was_total)
{
	double p1 = percent_of(was, was_total), p2 = percent_of(samples, total);

	return p1 > 0 ? (p2 - p1) / p1 * 100 : 0;
}

void profile_change_format(enum profile_change change, double growth,
			   char out[PERCENT_MAX])
{
	static const char *const marks[] = {
		[PROFILE_NEW] = "+++", [PROFILE_GONE] = "---"
	};

	if (change == PROFILE_NEW || change == PROFILE_GONE)
		strcpy(out, marks[change]);
	else
		percent_format_change(change == PROFILE_BOTH ? growth : 0, out);
}

/* Standard two-proportion z-test, with the pooled share of both sides. */
bool profile_significant(uint64_t samples, uint64_t total, uint64_t was,
			 uint64_t was_total)
{
	double n1 = (double)was_total, n2 = (double)total, pooled, error, difference;

	if (!total || !was_total)
		return false;
	pooled = ((double)samples + (double)was) / (n1 + n2);
	error = sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2));
	difference = (double)samples / n2 - (double)was / n1;
	return fabs(difference) > PROFILE_SIGMAS * error;
}
