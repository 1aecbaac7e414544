/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/percent.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

double percent_of(uint64_t part, uint64_t whole)
{
	if (!whole)
		return 0;
	/* The order of the operations is OProfile's: the last digit depends on it. */
	return (double)part / (double)whole * 100.0;
}

bool percent_reached(const uint64_t *parts, const uint64_t *wholes, size_t nr,
		     double percent)
{
	for (size_t i = 0; i < nr; i++)
		if (percent_of(parts[i], wholes[i]) >= percent)
			return true;
	return percent <= 0;
}

double percent_error(uint64_t part, uint64_t whole)
{
	double p;

	if (!whole || part >= whole)
		return 0;
	p = (double)part / (double)whole;
	return sqrt(p * (1 - p) / (double)whole) * 100.0;
}

/*
 * "%7.4f" of 0.001 to 100, where binary rounding leaves no doubt about the last digit;
 * printf() takes most of the time of a long table otherwise.
 */
static bool format_plain(double percent, char *out)
{
	double scaled = percent * 1e4;
	uint32_t n = (uint32_t)scaled;
	double rest = scaled - n;
	char *at = out + 8;

	if (percent >= 100 || fabs(rest - 0.5) < 1e-6)
		return false;
	n += rest > 0.5;
	if (n >= 1000000) /* 100.0000 */
		return false;
	*--at = '\0';
	for (int i = 0; i < 4; i++, n /= 10)
		*--at = (char)('0' + n % 10);
	*--at = '.';
	*--at = (char)('0' + n % 10);
	*--at = n >= 10 ? (char)('0' + n / 10) : ' ';
	return true;
}

void percent_format(double percent, char out[PERCENT_MAX])
{
	if (percent == 0) {
		strcpy(out, "      0");
	} else if (percent > 0.001) {
		if (format_plain(percent, out))
			return;
		snprintf(out, PERCENT_MAX, "%7.4f", percent);
		if (!strcmp(out, "100.0000"))
			out[7] = '\0';
	} else {
		snprintf(out, PERCENT_MAX, "%7.1e", percent);
	}
}

void percent_format_change(double percent, char out[PERCENT_MAX])
{
	if (percent == 0)
		percent_format(percent, out);
	else
		snprintf(out, PERCENT_MAX, fabs(percent) > 0.001 ? "%+7.4f" : "%+7.1e",
			 percent);
}
