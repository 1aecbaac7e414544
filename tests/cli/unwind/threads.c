/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads that compute, wait, and end; and a library that comes and goes, if given. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned sink;

__attribute__((noinline)) static unsigned recurses(unsigned n)
{
	for (unsigned i = 0; i < 2000; i++)
		sink += i;
	return n ? recurses(n - 1) + sink : sink;
}

static void *computes(void *arg)
{
	for (;;) {
		recurses((unsigned)(size_t)arg);
		pthread_mutex_lock(&lock);
		recurses(1);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void *waits(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void *ends(void *arg)
{
	recurses(2);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t t;

	for (size_t i = 1; i < 4; i++)
		pthread_create(&t, NULL, computes, (void *)i);
	pthread_create(&t, NULL, waits, NULL);
	for (;;) {
		void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
		int (*call)(int (*)(int), int) = NULL;

		if (library)
			*(void **)&call = dlsym(library, "call");
		if (call)
			call((int (*)(int))recurses, 3);
		pthread_create(&t, NULL, ends, NULL);
		pthread_join(t, NULL);
		if (library)
			dlclose(library);
	}
}
