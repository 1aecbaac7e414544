/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/number.h"

#include <errno.h>

#include "base/hex.h"

size_t number_digits(const char *text, int base, uint64_t *out)
{
	uint64_t n = 0;
	size_t len = 0;

	for (;; len++) {
		int digit = hex_digit(text[len]);

		if (digit < 0 || digit >= base)
			break;
		if (__builtin_mul_overflow(n, (uint64_t)base, &n) ||
		    __builtin_add_overflow(n, (uint64_t)digit, &n))
			return 0;
	}
	if (len)
		*out = n;
	return len;
}

bool number_parse(const char *text, int base, uint64_t max, uint64_t *out)
{
	uint64_t n;
	size_t len = number_digits(text, base, &n);

	if (!len || text[len] || n > max)
		return false;
	*out = n;
	return true;
}

#define MIB (1ULL << 20)

static const struct number_unit units[] = {
	{ 's', false, 1 },     { 'm', false, 60 },       { 'h', false, 3600 },
	{ 'd', false, 86400 }, { 'K', true, 1024 },      { 'k', true, 1024 },
	{ 'M', true, MIB },    { 'G', true, MIB << 10 }, { 'T', true, MIB << 20 },
};

int number_amount(const char *text, const struct number_unit **unit, uint64_t *out)
{
	uint64_t n;
	size_t digits = number_digits(text, 10, &n);

	*unit = NULL;
	if (!digits)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (text[digits] && text[digits] == units[i].letter && !text[digits + 1])
			*unit = &units[i];
	if (text[digits] && !*unit)
		return -EINVAL;
	return __builtin_mul_overflow(n, *unit ? (*unit)->factor : 1, out) ? -EINVAL : 0;
}
