// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * flood SECONDS FILE: maps FILE, forks and renames itself as fast as it can, for so many
 * seconds of processor time, but never longer than ten minutes.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LEN = 4096, ROUND = 1000, MOST_S = 600 };

int main(int argc, char **argv)
{
	clock_t end = argc > 2 ? (clock_t)(atof(argv[1]) * CLOCKS_PER_SEC) : 0;
	int fd = argc > 2 ? open(argv[2], O_RDONLY) : -1;

	if (fd < 0)
		return 1;
	alarm(MOST_S);
	for (unsigned round = 0; clock() < end; round++) {
		char name[16];
		pid_t child = fork();

		if (!child)
			_exit(0);
		for (int i = 0; i < ROUND; i++) {
			void *at = mmap(NULL, LEN, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
					0);

			snprintf(name, sizeof(name), "n%u", round + (unsigned)i);
			prctl(PR_SET_NAME, name);
			if (at != MAP_FAILED)
				munmap(at, LEN);
		}
		if (child > 0)
			waitpid(child, NULL, 0);
	}
	return 0;
}
