/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls functions of libraries for the first time, to be stepped through. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile long sink;

__attribute__((noinline)) void begins_end(void)
{
	sink++;
}

__attribute__((noinline)) void begins(char *text)
{
	sink = atol(text);
	sink += (long)strspn(text, "12");
	sink += time(NULL);
	begins_end();
}

int main(void)
{
	char text[] = "123";

	begins(text);
	return 0;
}
