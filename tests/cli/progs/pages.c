/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pages PAGES...: a thread for each argument, the first of them the main one, that writes
 * to so many pages of its own for the first time: so many page faults.  Prints a line
 * "TID PAGES" for each; touches when it has read a byte or the end of its input; prints
 * "done"; ends when its input does.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_THREADS 16

static struct job {
	pthread_t thread;
	size_t pages;
	char *memory;
	pid_t tid;
} jobs[MAX_THREADS];

static pthread_barrier_t told, go, done, end;

static void touch(const struct job *j)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < j->pages; i++)
		j->memory[i * size] = 1;
}

static void prepare(struct job *j, const char *pages)
{
	size_t size;

	j->pages = strtoul(pages, NULL, 10);
	size = (j->pages + 1) * (size_t)sysconf(_SC_PAGESIZE);
	j->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	/* no fault may bring more than one page */
	if (j->memory == MAP_FAILED || madvise(j->memory, size, MADV_NOHUGEPAGE))
		abort();
}

static void *run(void *arg)
{
	struct job *j = arg;

	j->tid = gettid();
	pthread_barrier_wait(&told);
	pthread_barrier_wait(&go);
	touch(j);
	pthread_barrier_wait(&done);
	pthread_barrier_wait(&end);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned nr = (unsigned)argc - 1;
	char byte;

	if (!nr || nr > MAX_THREADS)
		return 2;
	pthread_barrier_init(&told, NULL, nr);
	pthread_barrier_init(&go, NULL, nr);
	pthread_barrier_init(&done, NULL, nr);
	pthread_barrier_init(&end, NULL, nr);
	for (unsigned i = 0; i < nr; i++)
		prepare(&jobs[i], argv[i + 1]);
	jobs[0].tid = getpid();
	for (unsigned i = 1; i < nr; i++)
		if (pthread_create(&jobs[i].thread, NULL, run, &jobs[i]))
			abort();
	pthread_barrier_wait(&told);
	for (unsigned i = 0; i < nr; i++)
		printf("%d %zu\n", (int)jobs[i].tid, jobs[i].pages);
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) < 0)
		return 1;
	pthread_barrier_wait(&go);
	touch(&jobs[0]);
	pthread_barrier_wait(&done);
	puts("done");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	pthread_barrier_wait(&end);
	for (unsigned i = 1; i < nr; i++)
		pthread_join(jobs[i].thread, NULL);
	return 0;
}
