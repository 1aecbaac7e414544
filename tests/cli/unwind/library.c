/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads.c loads. */
static volatile int sink;

int call(int (*back)(int), int n);

int call(int (*back)(int), int n)
{
	sink = back(n);
	return sink + n;
}
