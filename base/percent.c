/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/percent.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
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

/* Rounds half up; false where binary rounding leaves a doubt about the last digit. */
static bool round_surely(double x, uint64_t *out)
{
	uint64_t n = (uint64_t)x;
	double rest = x - (double)n;

	*out = n + (rest > 0.5);
	return fabs(rest - 0.5) > 1e-6;
}

/*
 * "%.4f", which printf() takes most of the time of a long table for.  Returns the length;
 * 0: printf() has to do it.
 */
static size_t put_fixed(double x, char *out)
{
	char text[16], *at = text + sizeof(text);
	uint64_t n;
	size_t len;

	if (signbit(x) || x >= 1e5 || !round_surely(x * 1e4, &n))
		return 0;
	for (int i = 0; i < 4; i++, n /= 10)
		*--at = (char)('0' + n % 10);
	*--at = '.';
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	len = (size_t)(text + sizeof(text) - at);
	memcpy(out, at, len);
	out[len] = '\0';
	return len;
}

/* "%7.1e" of what is below 0.001; false: printf() has to do it. */
static bool put_small(double x, char *out)
{
	unsigned exponent = 5;
	uint64_t n;

	for (x *= 1e5; x < 10 && exponent < 20; exponent++)
		x *= 10;
	if (!round_surely(x, &n) || n < 10 || n > 99)
		return false;
	exponent--; /* n has two digits before the point */
	out[0] = (char)('0' + n / 10);
	out[1] = '.';
	out[2] = (char)('0' + n % 10);
	out[3] = 'e';
	out[4] = '-';
	out[5] = (char)('0' + exponent / 10);
	out[6] = (char)('0' + exponent % 10);
	out[7] = '\0';
	return true;
}

size_t percent_format_fixed(double percent, char out[PERCENT_MAX])
{
	size_t len = put_fixed(percent, out);

	return len ? len : (size_t)snprintf(out, PERCENT_MAX, "%.4f", percent);
}

size_t percent_format(double percent, char out[PERCENT_MAX])
{
	enum { WIDTH = 7 };
	size_t len;

	if (percent == 0) {
		strcpy(out, "      0");
		return WIDTH;
	}
	if (percent <= 0.001) {
		if (put_small(percent, out))
			return WIDTH;
		return (size_t)snprintf(out, PERCENT_MAX, "%7.1e", percent);
	}
	len = percent_format_fixed(percent, out);
	if (!strcmp(out, "100.0000"))
		out[--len] = '\0';
	if (len >= WIDTH)
		return len;
	memmove(out + WIDTH - len, out, len + 1);
	memset(out, ' ', WIDTH - len);
	return WIDTH;
}

void percent_format_change(double percent, char out[PERCENT_MAX])
{
	if (percent == 0)
		percent_format(percent, out);
	else
		snprintf(out, PERCENT_MAX, fabs(percent) > 0.001 ? "%+7.4f" : "%+7.1e",
			 percent);
}
