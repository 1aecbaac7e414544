/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_UNTIL_H
#define BASE_UNTIL_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Until when something that was made holds, if it shows files that nobody watches: in
 * seconds of CLOCK_MONOTONIC; 0: for ever.
 */

int64_t until_in(unsigned seconds);
bool until_over(int64_t until);
/* The earlier one. */
int64_t until_both(int64_t a, int64_t b);

#endif
