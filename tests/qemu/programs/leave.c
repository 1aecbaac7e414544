/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leave MB MS TIMES: so many times a process that has touched so much memory works for so
 * many milliseconds and exits, which takes long.  Prints the number of each process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long worked_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void work_and_exit(long ms)
{
	while (worked_ms() < ms)
		for (unsigned long i = 0; i < 100000; i++)
			__asm__ volatile("" : "+r"(i));
	_exit(0);
}

int main(int argc, char **argv)
{
	size_t size = argc == 4 ? (size_t)atol(argv[1]) << 20 : 0;
	char *memory;

	if (!size)
		return 2;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return 1;
	/* Pages of the usual size, so that there are many. */
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	for (long i = atol(argv[3]); i; i--) {
		pid_t pid = fork();
		int status;

		if (pid < 0)
			return 1;
		if (!pid)
			work_and_exit(atol(argv[2]));
		if (waitpid(pid, &status, 0) != pid || status)
			return 1;
		printf("%d\n", (int)pid);
	}
	return 0;
}
