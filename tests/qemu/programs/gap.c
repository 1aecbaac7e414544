/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gap MS [MB]: reads the clock again and again for so many milliseconds of its CPU time.
 * Prints the longest gap between two reads, and the sum of those above 0.1 ms, in
 * nanoseconds.  With MB, the process has so much memory, and another thread of it forks
 * all the time; prints how often, too.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THRESHOLD_NS = 100000, READS = 1000, ROUNDS = 1000 };

static atomic_int forks, ready, done;

static long long now_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void measure(long long cpu_ns)
{
	long long end = now_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;
	long long last = now_ns(CLOCK_MONOTONIC), longest = 0, sum = 0;

	for (int n = 0; n % READS || now_ns(CLOCK_THREAD_CPUTIME_ID) < end; n++) {
		long long now, gap;

		/* Most of the time is the program's own, not the clock's. */
		for (unsigned long i = 0; i < ROUNDS; i++)
			__asm__ volatile("" : "+r"(i));
		now = now_ns(CLOCK_MONOTONIC);
		gap = now - last;
		last = now;
		if (gap > longest)
			longest = gap;
		if (gap > THRESHOLD_NS)
			sum += gap;
	}
	printf("%lld %lld", longest, sum);
}

/* Small pages, each of which fork() has to copy the entry of. */
static void *fork_on(void *size)
{
	char *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, (size_t)size, MADV_NOHUGEPAGE);
	memset(memory, 1, (size_t)size);
	atomic_store(&ready, 1);
	while (!atomic_load(&done)) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) < 0)
			exit(1);
		atomic_fetch_add(&forks, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long long cpu_ns = argc > 1 ? atoll(argv[1]) * 1000000 : 0;
	size_t size = argc > 2 ? (size_t)atol(argv[2]) << 20 : 0;
	pthread_t thread;

	if (!cpu_ns)
		return 2;
	if (size && pthread_create(&thread, NULL, fork_on, (void *)size))
		return 1;
	while (size && !atomic_load(&ready))
		usleep(1000);
	measure(cpu_ns);
	atomic_store(&done, 1);
	if (size) {
		pthread_join(thread, NULL);
		printf(" %d", atomic_load(&forks));
	}
	putchar('\n');
	return 0;
}
