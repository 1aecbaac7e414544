/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inlined.h"

extern "C" int atoi(const char *);

namespace shapes
{
struct square : shape {
	int side;
	explicit square(int s) : side(s)
	{
	}
	int area(volatile int *p) const override
	{
		auto scaled = [&](int by) { return power<long>(side, 2) * by + *p; };

		return (int)scaled(outer(p)) + (int)scaled(innermost(p));
	}
};
}

template <class F> __attribute__((noinline)) static int apply(F f, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum += f(i);
	return sum;
}

int main(int argc, char **argv)
{
	volatile int n = argc > 1 ? atoi(argv[1]) : argc;
	shapes::square s(n);
	const shapes::shape *p = &s;
	int sum = apply([&](int i) { return middle(&n) * i; }, n);

	return (p->area(&n) + sum + other(n) + shapes::power<short>((short)n, 5)) & 1;
}
