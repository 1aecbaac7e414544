/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/progress.h"

enum { MORE_THREADS = 3 };

struct parallel {
	atomic_size_t next;
	size_t nr;
	void (*work)(void *ctx, size_t i);
	void *ctx;
	bool shown; /* how far it has come */
};

static void *run(void *arg)
{
	struct parallel *p = arg;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->nr) {
		p->work(p->ctx, i);
		if (p->shown)
			progress_step();
	}
	return NULL;
}

void parallel_each(const char *doing, const char *things, size_t nr,
		   void (*work)(void *ctx, size_t i), void *ctx)
{
	struct parallel p = { .nr = nr, .work = work, .ctx = ctx };
	pthread_t threads[MORE_THREADS];
	size_t started = 0;

	p.shown = progress_begin(doing, nr, things);
	while (started < MORE_THREADS && started + 1 < nr) {
		if (pthread_create(&threads[started], NULL, run, &p))
			break;
		started++;
	}
	run(&p);
	while (started)
		pthread_join(threads[--started], NULL);
	if (p.shown)
		progress_end();
}
