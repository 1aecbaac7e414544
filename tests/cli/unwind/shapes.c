/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions with frames of all shapes, for ever: recursion, tail calls, alloca(), frames
 * that are aligned anew, many and few saved registers, longjmp(), calls by a PLT.
 * With an argument each is called once, by shapes(): to be stepped through.
 */
#include <alloca.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static volatile int sink;
static jmp_buf back;

#define APART __attribute__((noinline))

APART static int leaf(int n)
{
	return n * 3 + sink;
}

APART static int saves_many(int a, int b, int c)
{
	int d = leaf(a), e = leaf(b), f = leaf(c), g = leaf(d), h = leaf(e);

	sink = leaf(a + b + c + d + e + f + g + h);
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h;
}

APART static int recurses(int n)
{
	return n ? recurses(n - 1) + saves_many(n, n + 1, n + 2) : leaf(n);
}

APART static int tail_called(int n)
{
	sink = leaf(n);
	return n + sink;
}

APART static int tail_calls(int n)
{
	sink = leaf(n) + 1;
	return tail_called(n + 1);
}

APART static int allocates(int n)
{
	char *room = alloca((size_t)n * 16 + 16);

	memset(room, n, (size_t)n * 16);
	sink = room[n];
	return leaf(sink) + saves_many(n, 1, 2);
}

APART static int is_aligned(int n)
{
	_Alignas(64) volatile int values[32];

	for (int i = 0; i < 32; i++)
		values[i] = leaf(n + i);
	return values[n & 31] + saves_many(n, 3, 4);
}

APART static int is_aligned_and_allocates(int n)
{
	_Alignas(64) volatile int values[32];
	volatile char *room = alloca((size_t)(n & 7) * 64 + 1);

	room[0] = (char)n;
	for (int i = 0; i < 32; i++)
		values[i] = leaf(n + room[0]);
	return values[n & 31];
}

APART static int has_much(int n)
{
	volatile char room[70000];

	room[n] = room[n + 1] = (char)leaf(n);
	return room[n] + saves_many(n, 5, 6);
}

APART static void jumps(int n)
{
	if (n)
		jumps(n - 1);
	sink = leaf(n);
	longjmp(back, 1);
}

APART static int early(int n)
{
	if (n & 1)
		return 1;
	sink = saves_many(n, n, n);
	if (n & 2)
		return 2;
	return leaf(sink);
}

static int by_value(const void *a, const void *b)
{
	return leaf(*(const int *)a) - leaf(*(const int *)b);
}

APART static void calls_back(void)
{
	int values[] = { 5, 2, 8, 1, 9, 3 };

	qsort(values, sizeof(values) / sizeof(values[0]), sizeof(values[0]), by_value);
	sink = values[0];
}

APART static int computes(int n)
{
	return (int)(sin(n) * 100) + (int)pow(n, 1.5);
}

APART void shapes_end(void)
{
	sink++;
}

APART void shapes(int n)
{
	sink = saves_many(n, n + 1, n + 2);
	sink = recurses(n & 7);
	sink = tail_calls(n);
	sink = allocates(n & 15);
	sink = is_aligned(n);
	sink = is_aligned_and_allocates(n);
	sink = has_much(n & 1023);
	sink = early(n) + early(n + 1) + early(n + 2);
	if (!setjmp(back))
		jumps(n & 3);
	calls_back();
	sink = computes(n);
	shapes_end();
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		shapes(2);
	for (int n = 0; argc == 1; n++)
		shapes(n);
	return 0;
}
