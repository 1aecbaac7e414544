// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * jit_stack SECONDS [HOOK [DUMP]]: calls functions through code made at run time that has
 * neither frame pointers nor unwind tables, as CPython's trampolines: main calls one()
 * through a trampoline, one() calls two() through the next, and two() calls leaf(), which
 * works, through code with a larger frame, in other memory.  A shell runs HOOK first,
 * with where the trampolines are, 16 bytes apart ($JIT_AT), where that code is
 * ($JIT_CODE), and its own number ($JIT_PID); then the first page of DUMP is mapped as
 * runtimes map their jitdump.  x86-64 only.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

typedef unsigned (*function)(unsigned n);
/* the fourth argument is in rcx, which it calls */
typedef unsigned (*through)(unsigned n, long unused, long too, function f);

static through trampolines[2], code;

NOINLINE static unsigned leaf(unsigned n)
{
	unsigned x = 1;

	while (n--)
		x = x * 3 + 1;
	return x;
}

NOINLINE static unsigned two(unsigned n)
{
	return code(n, 0, 0, leaf) + 1;
}

NOINLINE static unsigned one(unsigned n)
{
	return trampolines[1](n, 0, 0, two) + 1;
}

/* Code that makes room for @room bytes, calls, and returns. */
static through make(unsigned char *at, unsigned char room)
{
	/* sub $room,%rsp; call *%rcx; add $room,%rsp; ret */
	const unsigned char bytes[] = { 0x48, 0x83, 0xec, room, 0xff, 0xd1,
					0x48, 0x83, 0xc4, room, 0xc3 };

	memcpy(at, bytes, sizeof(bytes));
	return (through)(uintptr_t)at;
}

static unsigned char *area(const char *name)
{
	unsigned char *at = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char text[32];

	if (at == MAP_FAILED)
		exit(1);
	snprintf(text, sizeof(text), "%lx", (unsigned long)(uintptr_t)at);
	setenv(name, text, 1);
	return at;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	unsigned char *at = area("JIT_AT");
	char pid[32];

	trampolines[0] = make(at, 8);
	trampolines[1] = make(at + 16, 8);
	code = make(area("JIT_CODE"), 0x28);
	snprintf(pid, sizeof(pid), "%d", getpid());
	setenv("JIT_PID", pid, 1);
	if (argc > 2 && system(argv[2]))
		return 1;
	if (argc > 3) {
		int fd = open(argv[3], O_RDONLY);

		if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
				   0) == MAP_FAILED)
			return 1;
		close(fd);
	}
	while ((double)clock() < seconds * CLOCKS_PER_SEC)
		trampolines[0](1000000, 0, 0, one);
	return 0;
}
