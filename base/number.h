/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers in text: digits and nothing else, neither blanks nor signs nor a prefix. */

/* Reads the digits that @text begins with, in base 8, 10 or 16.  How many they are; 0 if
 * there are none, or they do not fit. */
size_t number_digits(const char *text, int base, uint64_t *out);
/* True if the whole of @text is a number of at most @max; else *out is untouched. */
bool number_parse(const char *text, int base, uint64_t max, uint64_t *out);

struct number_unit { /* behind a number: of time, or of bytes */
	char letter;
	bool bytes;
	uint64_t factor; /* seconds or bytes */
};

/* "90", "2s", "1h", "16K", "16k", "100M".  @unit: NULL for none; *out is multiplied by
 * its factor.  0 or -EINVAL. */
int number_amount(const char *text, const struct number_unit **unit, uint64_t *out);

#endif
