/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined functions within inlined functions, in a header of two sources. */
#ifndef INLINED_H
#define INLINED_H

static inline int innermost(volatile int *p)
{
	int v = *p;

	return v * 3 + *p;
}

static inline int middle(volatile int *p)
{
	int a = innermost(p);

	for (int i = 0; i < a; i++) {
		int b = innermost(p);

		a -= b & *p;
	}
	return a;
}

static inline int outer(volatile int *p)
{
	return middle(p) - middle(p);
}

int other(int x);

#ifdef __cplusplus
namespace shapes
{
template <class T> inline T power(T base, unsigned n)
{
	T r = 1;

	while (n--)
		r *= base;
	return r;
}

struct shape {
	virtual ~shape()
	{
	}
	virtual int area(volatile int *p) const
	{
		return outer(p) + power<int>(*p, 3);
	}
};
}
#endif
#endif
