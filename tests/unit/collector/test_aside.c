/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "collector/aside.h"

static atomic_int released, dropped;

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void quick(void *job)
{
	*(int *)job += 1;
}

static void blocked(void *job)
{
	(void)job;
	while (!released)
		nap();
}

static void drop(void *job)
{
	dropped++;
	free(job);
}

static void *new_job(void)
{
	return calloc(1, sizeof(int));
}

Test(aside, does_the_work_and_gives_the_job_back)
{
	int *job = new_job();

	for (int i = 0; i < 1000; i++)
		cr_assert_eq(coll_aside(quick, drop, job, 10000), 0);
	cr_expect_eq(*job, 1000);
	cr_expect_eq(dropped, 0);
	free(job);
}

Test(aside, is_not_held_up_by_work_that_never_ends)
{
	int *job = new_job();

	cr_assert_eq(coll_aside(blocked, drop, new_job(), 10), -ETIMEDOUT);
	cr_expect_eq(coll_aside_stuck(), 1);
	cr_assert_eq(coll_aside(quick, drop, job, 10000), 0);
	cr_expect_eq(*job, 1);
	released = 1;
	while (coll_aside_stuck())
		nap();
	while (!dropped)
		nap();
	cr_assert_eq(coll_aside(quick, drop, job, 10000), 0);
	free(job);
}

Test(aside, refuses_more_when_too_many_threads_are_stuck)
{
	int *job = new_job(), rc = 0, nr = 0;

	while ((rc = coll_aside(blocked, drop, job, 1)) != -EAGAIN ||
	       coll_aside_stuck() < 16) {
		if (rc == -ETIMEDOUT) {
			job = new_job();
			nr++;
		}
		cr_assert_lt(nr, 100);
	}
	cr_expect_eq(*job, 0);
	free(job);
	released = 1;
	while (coll_aside_stuck())
		nap();
	job = new_job();
	while (coll_aside(quick, drop, job, 10000) == -EAGAIN)
		nap();
	cr_expect_eq(*job, 1);
	free(job);
}
