/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/change.h"

#include <float.h>
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

/* ---- more than chance? */

/* One of the two shares, and what it is not. */
struct part {
	double in, rest;
};

static double total_of(const struct part *p)
{
	return p->in + p->rest;
}

static double share_of(const struct part *p)
{
	return p->in / total_of(p);
}

/* The log of how many ways there are to choose @k of @n. */
static double log_ways(double n, double k)
{
	int sign;

	return lgamma_r(n + 1, &sign) - lgamma_r(k + 1, &sign) -
	       lgamma_r(n - k + 1, &sign);
}

/* Fisher's exact test, one-sided: how probable it is that so many of all such samples, or
 * more, are on the side with the greater share, if it is chance on which side each is. */
static double chance_of(struct part more, struct part less)
{
	double all = total_of(&more) + total_of(&less);
	double p = exp(log_ways(total_of(&more), more.in) +
		       log_ways(total_of(&less), less.in) -
		       log_ways(all, more.in + less.in));
	double sum = 0;

	while (p > sum * DBL_EPSILON) {
		sum += p;
		p *= more.rest-- * less.in-- / (++more.in * ++less.rest);
	}
	return sum;
}

/* Standard two-proportion z-test, with the pooled share of both sides. */
static bool is_far(const struct part *a, const struct part *b)
{
	double n1 = total_of(a), n2 = total_of(b), pooled = (a->in + b->in) / (n1 + n2);
	double error = sqrt(pooled * (1 - pooled) * (1 / n1 + 1 / n2));

	return fabs(share_of(a) - share_of(b)) > PROFILE_SIGMAS * error;
}

bool profile_significant(uint64_t samples, uint64_t total, uint64_t was,
			 uint64_t was_total)
{
	struct part now = { (double)samples, (double)total - (double)samples };
	struct part then = { (double)was, (double)was_total - (double)was };
	double rarer = fmin(now.in + then.in, now.rest + then.rest);
	double n1 = (double)was_total, n2 = (double)total;
	bool grew;

	/* one sample has to be on some side */
	if (!total || !was_total || rarer < 2 || !is_far(&now, &then))
		return false;
	if (rarer * fmin(n1, n2) / (n1 + n2) >= PROFILE_MANY)
		return true;
	grew = share_of(&now) > share_of(&then);
	return chance_of(grew ? now : then, grew ? then : now) <
	       erfc(PROFILE_SIGMAS / sqrt(2)) / 2;
}
