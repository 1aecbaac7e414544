// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jit SECONDS HOOK [DUMP]: makes code at run time, has a shell run HOOK with where it is
 * ($JIT_AT, in hexadecimal digits) and its own number ($JIT_PID), maps the first page of
 * DUMP as runtimes map their jitdump, and runs the code for so many seconds of
 * processor time.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LEN = 4096 };

/* Calls nothing and uses no data, so it runs anywhere. */
__attribute__((noinline, optimize("no-stack-protector"))) static unsigned
spin(unsigned n)
{
	unsigned x = 1;

	while (n--)
		x = x * 3 + 1;
	return x;
}

static void tell(const char *name, unsigned long value, const char *format)
{
	char text[32];

	snprintf(text, sizeof(text), format, value);
	setenv(name, text, 1);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	char *at = mmap(NULL, LEN, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned (*run)(unsigned);

	if (at == MAP_FAILED)
		return 1;
	memcpy(at, (const void *)(uintptr_t)spin, 256);
	__builtin___clear_cache(at, at + LEN);
	run = (unsigned (*)(unsigned))(uintptr_t)at;
	tell("JIT_AT", (unsigned long)(uintptr_t)at, "%lx");
	tell("JIT_PID", (unsigned long)getpid(), "%lu");
	if (argc > 2 && system(argv[2]))
		return 1;
	if (argc > 3) {
		int fd = open(argv[3], O_RDONLY);

		if (fd < 0 || mmap(NULL, LEN, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
				   0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	while ((double)clock() < seconds * CLOCKS_PER_SEC)
		run(1000000);
	return 0;
}
