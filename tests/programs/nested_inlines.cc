// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that are always inlined, three deep, in a loop, in one that recurs, from a
// header and from a template.  Places of which a test makes samples are numbered: section
// "marks" has the address and the number of each, as often as it is inlined.
#include "nested_inlines.h"

template <class T> ALWAYS T scaled(volatile T *p, T by)
{
	T v = *p;

	MARK(3);
	return v * by;
}

ALWAYS unsigned middle(volatile unsigned *p)
{
	unsigned v = 0;

	for (unsigned i = 0; i < *p; i++)
		v += from_header(p);
	MARK(2);
	return v + scaled<unsigned>(p, 3);
}

extern "C" {
ALWAYS unsigned outer(volatile unsigned *p)
{
	unsigned v = middle(p);

	MARK(1);
	return v;
}

__attribute__((noinline)) unsigned recurse(volatile unsigned *p, unsigned n)
{
	unsigned v = *p;

	MARK(5);
	if (n)
		v += recurse(p, n - 1) + outer(p);
	return v + from_header(p);
}
}

int main(int argc, char **argv)
{
	volatile unsigned n = (unsigned)argc;

	(void)argv;
	return (int)(recurse(&n, 3) & 1);
}
