/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library of one function, which computes for so many thousandths of TURNS turns. */
void spin(unsigned thousandths);

void spin(unsigned thousandths)
{
	volatile unsigned x = 0;

	for (unsigned i = 0; i < TURNS / 1000 * thousandths; i++)
		x = x * 1664525u + 1013904223u;
}
