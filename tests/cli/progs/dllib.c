/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A library of one function, which computes for TURNS turns. */
void spin(void);

void spin(void)
{
	volatile unsigned x = 0;

	for (int i = 0; i < TURNS; i++)
		x = x * 1664525u + 1013904223u;
}
