/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "./sub/../inlined.h"

int other(int x)
{
	volatile int y = x;
	shapes::shape s;

	return outer(&y) + s.area(&y);
}
