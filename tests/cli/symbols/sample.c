/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program with every kind of symbol that the reader must tell apart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int twin_a(int x), weak_twin(int x), _under(int x);

__attribute__((noinline)) int strong_twin(int x)
{
	return x * 3 + 1;
}
int weak_twin(int x) __attribute__((weak, alias("strong_twin")));

__attribute__((noinline)) int _under(int x)
{
	return x * 5 + 2;
}
int plain_name(int x) __attribute__((alias("_under")));

static __attribute__((noinline)) int local_one(int x)
{
	return x ^ 0x55;
}

/* outer holds inner; behind gap_fn are bytes of nobody; open_fn has no size. */
__asm__(".text\n"
	".globl outer_fn\n.type outer_fn,@function\nouter_fn:\n"
	"nop\nnop\nnop\nnop\n"
	".type inner_fn,@function\ninner_fn:\nnop\nnop\n.size inner_fn,2\n"
	"nop\nnop\nret\n.size outer_fn,.-outer_fn\n"
	".balign 64\n.type gap_fn,@function\ngap_fn:\nret\n.size gap_fn,1\n"
	".balign 64\nopen_fn:\nnop\nnop\nret\n"
	".balign 64\n.type after_fn,@function\nafter_fn:\nret\n.size after_fn,1\n"
	".Lhidden: nop\n");

__attribute__((section(".elsewhere"), noinline)) int far_away(int x)
{
	return x + 7;
}

int main(int argc, char **argv)
{
	size_t (*volatile len)(const char *) = strlen;
	int n = argc;

	n = local_one(strong_twin(_under(far_away(n))));
	printf("%d %zu\n", n, len(argv[0]));
	puts(getenv("HOME") ? "home" : "no home");
	return 0;
}
