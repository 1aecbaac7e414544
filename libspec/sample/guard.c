/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/sample/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

_Thread_local volatile unsigned spec_guard_failures;

/* Of this thread.  The handler runs in it, at an access that is in no list's change. */
static _Thread_local struct spec_guard *guards __attribute__((tls_model("initial-exec")));
static struct sigaction before;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool stand_in(struct spec_guard *g)
{
	void *at = mmap(g->base, g->len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	g->failed = true;
	spec_guard_failures++;
	return true;
}

static void caught(int signo, siginfo_t *info, void *context)
{
	const char *at = info->si_addr;
	int saved = errno;

	(void)context;
	if (info->si_code > 0) /* not sent by a process */
		for (struct spec_guard *g = guards; g; g = g->next)
			if (at >= g->base && at < g->base + g->len && stand_in(g)) {
				errno = saved;
				return;
			}
	/* the access is made again, and goes to whoever was there before */
	sigaction(SIGBUS, &before, NULL);
	if (info->si_code <= 0)
		raise(signo);
	errno = saved;
}

static void install(void)
{
	struct sigaction action = { .sa_sigaction = caught,
				    .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &before);
}

struct spec_guard *spec_guard_new(void *base, size_t len)
{
	struct spec_guard *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	pthread_once(&once, install);
	g->base = base;
	g->len = len;
	g->next = guards;
	g->at = &guards;
	if (g->next)
		g->next->at = &g->next;
	guards = g;
	return g;
}

void spec_guard_free(struct spec_guard *g)
{
	if (!g)
		return;
	*g->at = g->next;
	if (g->next)
		g->next->at = g->at;
	free(g);
}
