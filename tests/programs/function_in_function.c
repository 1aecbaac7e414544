/* SPDX-License-Identifier: GPL-2.0-or-later */
/* GNU C: a function in a function, whose entry in DWARF is in that of the other. */
static inline __attribute__((always_inline)) int twice(volatile int *p)
{
	int v = *p;

	return v * 2 + *p;
}

__attribute__((noinline)) int around(volatile int *p, int n)
{
	__attribute__((noinline)) int in_it(int k)
	{
		int v = *p + n;

		v += twice(p);
		return v + k + *p;
	}

	return in_it(*p) + in_it(n);
}

int main(int argc, char **argv)
{
	volatile int n = argc;

	(void)argv;
	return around(&n, 3) & 1;
}
