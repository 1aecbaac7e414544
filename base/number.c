/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/number.h"

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
