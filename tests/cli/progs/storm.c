/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storm CHILDREN MICROSECONDS [exec]: forks children that each compute for so long on
 * average (or execute this program, which does), one after the other; after each the
 * parent computes as well, so that samples of a long-lived process are there to compare
 * with.  How long, from nothing to twice the average, is drawn each time: a rhythm near
 * that of the samples would have all of them fall on one of the two.  Tells $WORKED the
 * CPU time of the "children" and of the "parent".
 */
#include <stdio.h>
#include <sys/wait.h>

#include "../../programs/worked.h"

__attribute__((noinline)) static void spin(long us)
{
	long long end = us * 1000LL, begin = worked_ns();
	volatile unsigned x = 0;

	do {
		for (int i = 0; i < 1000; i++)
			x = x * 1664525u + 1013904223u;
	} while (worked_ns() - begin < end);
}

static long drawn(long us)
{
	static unsigned x = 1;

	x = x * 1664525u + 1013904223u;
	return us ? (long)(x >> 16) % (2 * us) : 0;
}

int main(int argc, char **argv)
{
	long children = argc > 1 ? atol(argv[1]) : 0, us = argc > 2 ? atol(argv[2]) : 0;

	if (!children) {
		spin(us);
		worked_tell("storm", worked_ns());
		return 0;
	}
	for (long i = 0; i < children; i++) {
		long length = drawn(us);
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			if (argc > 3) {
				char text[24];

				snprintf(text, sizeof(text), "%ld", length);
				unsetenv("WORKED");
				execl("/proc/self/exe", "stormchild", "0", text, NULL);
			}
			spin(length);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		spin(drawn(us));
	}
	worked_tell("children", worked_children_ns());
	worked_tell("parent", worked_ns());
	return 0;
}
