/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * allocations.so: for LD_PRELOAD.  Counts the calls of malloc(), calloc() and realloc()
 * of one program, and writes their number to the file OPFS_TEST_ALLOCATIONS when it
 * ends.  What the program starts is not counted.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static atomic_ulong calls;
static int out = -1;

void *malloc(size_t size)
{
	calls++;
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	calls++;
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	calls++;
	return __libc_realloc(p, size);
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("OPFS_TEST_ALLOCATIONS");

	if (path)
		out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	unsetenv("LD_PRELOAD");
	unsetenv("OPFS_TEST_ALLOCATIONS");
}

__attribute__((destructor)) static void end(void)
{
	if (out >= 0)
		dprintf(out, "%lu\n", calls);
}
