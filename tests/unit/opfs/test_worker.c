/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "opfs/mount/worker.h"

/* Work that goes on until it is released or cancelled, and what became of it. */
struct gate {
	atomic_bool open;
	atomic_int begun, cancelled, served, failed, freed;
	atomic_int spurious; /* run() stops so often though nobody told it to */
};

struct task {
	struct gate *gate;
};

enum { PATIENCE = 600000 }; /* naps: two minutes and more */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

static int task_run(void *arg, const atomic_bool *cancel)
{
	struct gate *g = ((struct task *)arg)->gate;

	atomic_fetch_add(&g->begun, 1);
	if (atomic_load(&g->spurious) > 0) {
		atomic_fetch_sub(&g->spurious, 1);
		return -EINTR;
	}
	while (!g->open && !atomic_load(cancel))
		nap();
	if (!atomic_load(cancel))
		return 0;
	atomic_fetch_add(&g->cancelled, 1);
	return -EINTR;
}

static void task_reply(void *arg, int rc, struct waiter *w)
{
	struct gate *g = ((struct task *)arg)->gate;

	cr_expect_eq(w->state, WAITER_SERVED);
	atomic_fetch_add(rc ? &g->failed : &g->served, 1);
}

static void task_free(void *arg)
{
	atomic_fetch_add(&((struct task *)arg)->gate->freed, 1);
	free(arg);
}

static const struct job_ops ops = { task_run, task_reply, task_free };

static struct worker_pool *p;
static struct gate g;
static struct waiter w[3];

static void pool_for(unsigned nr, bool fair)
{
	struct err err;

	cr_assert(!worker_pool_new(nr, fair, &p, &err), "%s", err.msg);
}

static void pool_of(unsigned nr)
{
	pool_for(nr, false);
}

static int ask_as(uid_t uid, const char *key, struct waiter *who)
{
	struct task *t = calloc(1, sizeof(*t));
	struct job_key k = { .uid = uid, .id = key, .len = strlen(key) };

	t->gate = &g;
	return worker_ask(p, &ops, t, &k, who);
}

static int ask(const char *key, struct waiter *who)
{
	return ask_as(0, key, who);
}

static bool reaches(atomic_int *what, int value)
{
	for (int i = 0; i < PATIENCE && atomic_load(what) != value; i++)
		nap();
	return atomic_load(what) == value;
}

Test(worker, equal_work_is_done_once_for_all_who_wait)
{
	pool_of(2);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(ask("same", &w[i]), 0);
	cr_expect(reaches(&g.begun, 1));
	g.open = true;
	cr_expect(reaches(&g.served, 3));
	worker_pool_free(p);
	cr_expect_eq(g.begun, 1);
	cr_expect_eq(g.freed, 3);
}

Test(worker, different_work_runs_side_by_side)
{
	pool_of(2);
	cr_expect_eq(ask("one", &w[0]), 0);
	cr_expect_eq(ask("two", &w[1]), 0);
	cr_expect(reaches(&g.begun, 2));
	cr_expect_eq(worker_pool_busy(p), 2u);
	g.open = true;
	cr_expect(reaches(&g.served, 2));
	worker_pool_free(p);
}

Test(worker, work_is_cancelled_only_when_the_last_has_left)
{
	pool_of(1);
	ask("same", &w[0]);
	ask("same", &w[1]);
	cr_expect(reaches(&g.begun, 1));
	cr_expect(worker_leave(p, &w[0]));
	cr_expect_not(worker_leave(p, &w[0]), "nobody leaves twice");
	nap();
	cr_expect_eq(g.cancelled, 0);
	cr_expect(worker_leave(p, &w[1]));
	cr_expect(reaches(&g.cancelled, 1));
	worker_pool_free(p);
	cr_expect_eq(g.served + g.failed, 0);
	cr_expect_eq(g.freed, 2);
}

Test(worker, nobody_joins_work_that_was_cancelled)
{
	pool_of(2);
	ask("same", &w[0]);
	cr_expect(reaches(&g.begun, 1));
	worker_leave(p, &w[0]);
	g.open = true;
	ask("same", &w[1]);
	cr_expect(reaches(&g.served, 1));
	worker_pool_free(p);
	cr_expect_eq(g.begun, 2);
}

Test(worker, work_that_has_not_begun_is_dropped_with_its_last_waiter)
{
	pool_of(1);
	ask("first", &w[0]);
	cr_expect(reaches(&g.begun, 1));
	ask("second", &w[1]);
	ask("third", &w[2]);
	cr_expect(worker_leave(p, &w[2]));
	cr_expect_eq(g.freed, 1);
	cr_expect_eq(worker_pool_busy(p), 2u);
	g.open = true;
	cr_expect(reaches(&g.served, 2));
	worker_pool_free(p);
	cr_expect_eq(g.begun, 2);
}

Test(worker, who_left_before_he_was_handed_in_is_refused)
{
	pool_of(1);
	cr_expect_not(worker_leave(p, &w[0]));
	cr_expect_eq(ask("late", &w[0]), -EINTR);
	worker_pool_free(p);
	cr_expect_eq(g.begun, 0);
	cr_expect_eq(g.freed, 1);
}

Test(worker, work_stopped_for_another_s_sake_is_begun_anew)
{
	pool_of(1);
	g.spurious = 2;
	g.open = true;
	ask("x", &w[0]);
	cr_expect(reaches(&g.served, 1));
	worker_pool_free(p);
	cr_expect_eq(g.begun, 3);
}

Test(worker, stopping_answers_everybody)
{
	pool_of(1);
	ask("runs", &w[0]);
	cr_expect(reaches(&g.begun, 1));
	ask("waits", &w[1]);
	worker_pool_stop(p);
	cr_expect_eq(g.failed, 2);
	cr_expect_eq(g.cancelled, 1);
	cr_expect_eq(ask("late", &w[2]), -ESHUTDOWN);
	cr_expect_eq(g.freed, 3);
	worker_pool_free(p);
}

Test(worker, who_asks_for_much_leaves_threads_to_others)
{
	static const char *const keys[] = { "a", "b", "c", "d", "e" };
	struct waiter many[5] = { 0 };

	pool_for(4, true);
	for (int i = 0; i < 5; i++)
		cr_expect_eq(ask_as(1, keys[i], &many[i]), 0);
	cr_expect(reaches(&g.begun, 2));
	/* behind three that wait */
	cr_expect_eq(ask_as(2, "x", &w[0]), 0);
	cr_expect(reaches(&g.begun, 3));
	cr_expect_eq(ask_as(3, "y", &w[1]), 0);
	cr_expect(reaches(&g.begun, 4));
	cr_expect_eq(worker_pool_busy(p), 7u);
	g.open = true;
	cr_expect(reaches(&g.served, 7));
	worker_pool_free(p);
}

Test(worker, stopping_answers_those_who_have_their_share_too)
{
	struct waiter many[3] = { 0 };

	pool_for(2, true);
	ask_as(1, "a", &many[0]);
	ask_as(1, "b", &many[1]);
	ask_as(1, "c", &many[2]);
	cr_expect(reaches(&g.begun, 1));
	worker_pool_stop(p);
	cr_expect_eq(g.failed, 3);
	cr_expect_eq(g.begun, 1);
	worker_pool_free(p);
}

/* Many ask for few things and leave at random: each is answered or gets away, once. */
struct crowd {
	unsigned seed;
	int left;
};

enum { ROUNDS = 2000, CROWD = 4 };

static void *member(void *arg)
{
	struct crowd *c = arg;
	struct waiter *waiters = calloc(ROUNDS, sizeof(*waiters));
	char key[2] = "a";

	for (int i = 0; i < ROUNDS; i++) {
		key[0] = (char)('a' + rand_r(&c->seed) % 3);
		cr_assert_eq(ask(key, &waiters[i]), 0);
		if (rand_r(&c->seed) % 2)
			c->left += worker_leave(p, &waiters[i]);
	}
	return waiters;
}

Test(worker, a_crowd_is_served_once_each)
{
	pool_of(2);
	g.open = true;
	struct crowd c[CROWD];
	pthread_t threads[CROWD];
	void *waiters[CROWD];
	int left = 0;

	for (int i = 0; i < CROWD; i++) {
		c[i] = (struct crowd){ .seed = (unsigned)i + 1 };
		cr_assert(!pthread_create(&threads[i], NULL, member, &c[i]));
	}
	for (int i = 0; i < CROWD; i++) {
		pthread_join(threads[i], &waiters[i]);
		left += c[i].left;
	}
	for (int i = 0; i < PATIENCE && worker_pool_busy(p); i++)
		nap();
	worker_pool_free(p);
	cr_expect_eq(g.served + g.failed + left, CROWD * ROUNDS, "%d + %d + %d", g.served,
		     g.failed, left);
	cr_expect_eq(g.freed, CROWD * ROUNDS);
	for (int i = 0; i < CROWD; i++)
		free(waiters[i]);
}
