/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * named MILLISECONDS [FILE]: threads that each compute for so long, by their own CPU
 * time: the first one, which keeps its program's name, HTTP-Dispatcher, C2 CompilerThre,
 * and "early", which is called "late" for another time as long.  All have their first
 * names, and "TID NAME" is printed for each, before any of them computes; with FILE they
 * wait until that exists.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../programs/cputime.h"

static const char *const names[] = { "HTTP-Dispatcher", "C2 CompilerThre", "early" };
enum { NR = sizeof(names) / sizeof(names[0]) };

static double ms;
static pthread_barrier_t named, go;

static WORK(work, __attribute__((noinline)))

static void *run(void *name)
{
	pthread_setname_np(pthread_self(), name);
	printf("%ld %s\n", syscall(SYS_gettid), (const char *)name);
	pthread_barrier_wait(&named);
	pthread_barrier_wait(&go);
	work_ms(work, ms);
	if (name != names[NR - 1])
		return NULL;
	pthread_setname_np(pthread_self(), "late");
	work_ms(work, ms);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[NR];

	ms = argc > 1 ? atof(argv[1]) : 100;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&named, NULL, NR + 1);
	pthread_barrier_init(&go, NULL, NR + 1);
	for (int i = 0; i < NR; i++)
		if (pthread_create(&ids[i], NULL, run, (void *)names[i]))
			return 1;
	pthread_barrier_wait(&named);
	printf("%d named\n", (int)getpid());
	while (argc > 2 && access(argv[2], F_OK))
		usleep(10000);
	pthread_barrier_wait(&go);
	work_ms(work, ms);
	for (int i = 0; i < NR; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
