/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_PERCENT_H
#define BASE_PERCENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Percentages as OProfile's tools print them, so that scripts made for them keep
 * working. */

#define PERCENT_MAX 32 /* bytes that hold any formatted percentage and its NUL */

/* @part of @whole in percent; 0 if @whole is 0. */
double percent_of(uint64_t part, uint64_t whole);

/* Is one of @nr parts at least so much of the whole that it belongs to? */
bool percent_reached(const uint64_t *parts, const uint64_t *wholes, size_t nr,
		     double percent);

/* The standard error of that share, in percent as well: of @whole samples drawn anew so
 * much more or less would be usual.  Binomial: sqrt(p (1 - p) / whole). */
double percent_error(uint64_t part, uint64_t whole);

/**
 * percent_format - the text of a percentage
 * 0 is "      0"; over 0.001 it is "%7.4f", of which "100.0000" loses a digit; smaller
 * ones are scientific with one digit of fraction ("3.2e-04").  At least 7 characters.
 * Returns how many.
 * Source: doc/differences.md "Percentages".
 */
size_t percent_format(double percent, char out[PERCENT_MAX]);
/* The same for a change, with its sign: "+12.5000", "-3.2e-04"; none is "      0". */
void percent_format_change(double percent, char out[PERCENT_MAX]);
/* "%.4f", for programs; its length. */
size_t percent_format_fixed(double percent, char out[PERCENT_MAX]);

#endif
