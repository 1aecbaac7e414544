/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * deep LIB MS: burns so much CPU time at each of some places, and writes down by which
 * calls it came there, in the file that $PLACES names: "PLACE PATH+OFFSET...", where each
 * call returns to, the innermost first.  Tells $WORKED how much it burnt at each place.
 * It comes to each place several times: while a hypervisor has the CPU elsewhere, time
 * goes by and nothing is sampled, and a place should not have all of that.
 * LIB is this file, built with -DLIBRARY.  Needs frame pointers, or, with -DUNWIND,
 * unwind information: then all callers are written down, up to where threads begin.
 */
#ifdef LIBRARY
void through_library(void (*f)(void));
__attribute__((noinline)) void through_library(void (*f)(void))
{
	f();
	__asm__ volatile("");
}
#else
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "../../programs/worked.h"

#define NOINLINE __attribute__((noinline))
#define STAY __asm__ volatile("") /* the call before it is no jump */

static _Thread_local uintptr_t *top; /* the frame of the outermost function */
enum { TURNS = 4 };
static long long burn_ns; /* each time */
static void (*through)(void (*f)(void));

/* Adds where an address is, as sample files have it. */
static int put(char *to, size_t size, uintptr_t at)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096], path[3072] = "?";
	unsigned long start, end, off;
	int len = 0;

	while (!len && maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %3071s", &start, &end, &off,
			   path) == 4 &&
		    at >= start && at < end)
			len = snprintf(to, size, " %s+%lx", path,
				       (unsigned long)at - start + off);
	fclose(maps);
	return len;
}

static NOINLINE void write_down(const char *place, const uintptr_t *fp)
{
	static char text[1 << 18];
	int len = snprintf(text, sizeof(text), "%s", place);
	FILE *f = fopen(getenv("PLACES"), "ae");

#ifdef UNWIND
	void *at[1024];
	int nr = backtrace(at, 1024);

	(void)fp;
	/* behind this function and burn() */
	for (int i = 2; i < nr; i++)
		len += put(text + len, sizeof(text) - (size_t)len, (uintptr_t)at[i]);
#else
	for (;; fp = (const uintptr_t *)fp[0]) {
		len += put(text + len, sizeof(text) - (size_t)len, fp[1]);
		if (fp == top)
			break;
	}
#endif
	fprintf(f, "%s\n", text);
	fclose(f);
}

static NOINLINE void burn(const char *place)
{
	long long begin, now;

	write_down(place, __builtin_frame_address(0));
	begin = worked_by(CLOCK_THREAD_CPUTIME_ID);
	do {
		for (volatile int i = 0; i < 200000; i++)
			;
		now = worked_by(CLOCK_THREAD_CPUTIME_ID);
	} while (now - begin < burn_ns);
	worked_tell(place, now - begin);
}

static NOINLINE void recurse(const char *place, int n)
{
	if (n)
		recurse(place, n - 1);
	else
		burn(place);
	STAY;
}

static NOINLINE void odd(int n);
static NOINLINE void even(int n)
{
	if (n)
		odd(n - 1);
	else
		burn("mutual");
	STAY;
}
static NOINLINE void odd(int n)
{
	even(n - 1);
	STAY;
}

static void *thread(void *arg)
{
	top = __builtin_frame_address(0);
	recurse(arg, 3);
	return arg;
}

static volatile sig_atomic_t interrupted;

static void handler(int sig)
{
	(void)sig;
	burn("signal");
	interrupted = 1;
}

static NOINLINE void wait_for_signal(void)
{
	struct itimerval soon = { .it_value = { .tv_usec = 1000 } };

	interrupted = 0;
	signal(SIGVTALRM, handler);
	setitimer(ITIMER_VIRTUAL, &soon, NULL);
	while (!interrupted)
		;
}

static void called_back(void)
{
	burn("library");
	STAY;
}

static NOINLINE void child(char **argv)
{
	if (!fork()) {
		burn("child");
		execv("/proc/self/exe", argv);
		_exit(1);
	}
	wait(NULL);
}

int main(int argc, char **argv)
{
	char *again[] = { argv[0], argv[1], argv[2], "again", NULL };
	pthread_t other;

	if (argc < 3)
		return 2;
	top = __builtin_frame_address(0);
	burn_ns = atol(argv[2]) * 1000000 / TURNS;
	if (argc > 3) {
		burn("executed");
		return 0;
	}
	for (int turn = 0; turn < TURNS; turn++) {
		recurse("deep", 60);
		recurse("too-deep", 300);
		even(20);
		pthread_create(&other, NULL, thread, "thread");
		pthread_join(other, NULL);
		wait_for_signal();
		*(void **)&through = dlsym(dlopen(argv[1], RTLD_NOW), "through_library");
		through(called_back);
		child(again);
	}
	return 0;
}
#endif
