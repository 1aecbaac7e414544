/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/terminal.h"
#include "base/thread.h"

enum { LATE_MS = 1000, NEXT_MS = 200 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER;
static const char *program;        /* whose terminal it is; NULL: nobody looks */
static const char *doing, *things; /* NULL: nothing is being done */
static size_t nr;
static atomic_size_t done;
static uint64_t begun_ns;
static size_t drawn; /* columns of the line that stands there */

/* Locked.  Over what stands there; "" erases it. */
static void draw(const char *text)
{
	char line[512];
	size_t len = strlen(text);
	int n = snprintf(line, sizeof(line), "\r%s%*s\r%s", text,
			 drawn > len ? (int)(drawn - len) : 0, "", text);

	drawn = len;
	if (n > 0 && (size_t)n < sizeof(line))
		file_write_all(STDERR_FILENO, line, (size_t)n);
}

/* Locked. */
static void draw_state(void)
{
	unsigned columns = terminal_columns(STDERR_FILENO);
	char text[160];

	snprintf(text, columns < sizeof(text) ? columns : sizeof(text),
		 "%s: %s: %zu of %zu %s", program, doing, atomic_load(&done), nr, things);
	draw(text);
}

static void *watch(void *arg)
{
	struct timespec at;

	pthread_mutex_lock(&lock);
	for (;;) {
		if (!doing) {
			pthread_cond_wait(&begun, &lock);
			continue;
		}
		if (clock_mono_ns() - begun_ns >= LATE_MS * CLOCK_NS_PER_MS)
			draw_state();
		clock_gettime(CLOCK_MONOTONIC, &at);
		at.tv_nsec += (long)(NEXT_MS * CLOCK_NS_PER_MS);
		at.tv_sec += at.tv_nsec / (long)CLOCK_NS_PER_S;
		at.tv_nsec %= (long)CLOCK_NS_PER_S;
		pthread_cond_clockwait(&begun, &lock, CLOCK_MONOTONIC, &at);
	}
	return arg;
}

void progress_show(const char *whose)
{
	pthread_t thread;

	if (program || !isatty(STDERR_FILENO) || thread_start(&thread, watch, NULL))
		return;
	pthread_detach(thread);
	pthread_mutex_lock(&lock);
	program = whose;
	pthread_mutex_unlock(&lock);
}

bool progress_begin(const char *what, size_t steps, const char *of)
{
	bool shown;

	if (!what)
		return false;
	pthread_mutex_lock(&lock);
	shown = program && !doing;
	if (shown) {
		doing = what;
		things = of;
		nr = steps;
		atomic_store(&done, 0);
		begun_ns = clock_mono_ns();
		pthread_cond_signal(&begun);
	}
	pthread_mutex_unlock(&lock);
	return shown;
}

void progress_step(void)
{
	atomic_fetch_add(&done, 1);
}

void progress_end(void)
{
	pthread_mutex_lock(&lock);
	doing = NULL;
	if (drawn)
		draw("");
	pthread_mutex_unlock(&lock);
}
