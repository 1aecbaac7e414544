/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "collector/daemon/keeper.h"
#include "tests/unit/collector/fake_source.h"

/* Sessions while somebody sets the clock. */

enum { HOUR = 3600, YEAR = 365 * 24 * HOUR };

static char dir[64];
static struct fake fake;
static struct fake_count count;
static struct coll_keeper *keeper;
/* Seconds that the clock of the day is wrong, and that passed while we looked away. */
static _Atomic int64_t set_by, slept;

int clock_gettime(clockid_t which, struct timespec *ts)
{
	static int (*next)(clockid_t, struct timespec *);
	int rc;

	if (!next)
		next = (__typeof__(next))dlsym(RTLD_NEXT, "clock_gettime");
	rc = next(which, ts);
	if (which == CLOCK_REALTIME)
		ts->tv_sec += set_by + slept;
	else if (which == CLOCK_BOOTTIME)
		ts->tv_sec += slept;
	return rc;
}

static void setup(void)
{
	struct err err = { 0 };

	set_by = slept = 0;
	snprintf(dir, sizeof(dir), "/tmp/opfs-clock.XXXXXX");
	cr_assert(mkdtemp(dir));
	cr_assert_eq(fake_open(&fake, dir, &count, 1, false, &err), 0, "%s", err.msg);
}

static void teardown(void)
{
	coll_keeper_free(keeper);
	fake_close(&fake);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(clock, .init = setup, .fini = teardown);

static void rotate(void)
{
	struct coll_session_old old = { .fd = -1 };
	struct err err = { 0 };

	cr_assert_geq(coll_engine_round(&fake.engine), 0);
	cr_assert_eq(coll_engine_rotate(&fake.engine, NULL, &old, &err), 0, "%s",
		     err.msg);
	coll_session_old_fini(&old);
}

static void keep(struct coll_keep how)
{
	const struct coll_daemon_options o = { .keep = how,
					       .sampling.symbols.none = true };
	struct err err = { 0 };

	cr_assert_eq(coll_keeper_new(fake.engine.session.samples_fd, &o, &keeper, &err),
		     0, "%s", err.msg);
}

/* Lets the keeper look at everything; how many sessions it has removed by now. */
static uint64_t removed(void)
{
	do
		usleep(10000);
	while (coll_keeper_busy(keeper));
	coll_keeper_wake(keeper);
	do
		usleep(10000);
	while (coll_keeper_busy(keeper));
	return coll_keeper_removed(keeper);
}

Test(clock, set_forth_and_back_keeps_every_sample_once_and_names_apart)
{
	static const int64_t jumps[] = { 0, YEAR, -YEAR, -1, 0, 1, YEAR, -HOUR, 0, 0, 0 };
	struct fake_sum sum;
	struct err err = { 0 };

	for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		set_by = jumps[i];
		rotate();
	}
	coll_engine_round(&fake.engine);
	coll_engine_stop(&fake.engine);
	coll_engine_tell(&fake.engine, true);
	cr_assert_eq(fake_sum(dir, &sum, &err), 0, "%s", err.msg);
	cr_expect_eq(sum.sessions, sizeof(jumps) / sizeof(jumps[0]) + 1);
	cr_expect_eq(sum.taken, count.done);
	cr_expect_eq(sum.in_files, count.done);
}

Test(clock, set_forward_makes_no_session_older)
{
	for (int i = 0; i < 3; i++)
		rotate();
	keep((struct coll_keep){ .age_s = 24 * HOUR });
	cr_assert_eq(removed(), 0);
	set_by = YEAR;
	rotate();
	cr_expect_eq(removed(), 0);
	slept = 25 * HOUR; /* now they are */
	cr_expect_eq(removed(), 4);
}

Test(clock, set_back_keeps_no_session_for_ever)
{
	for (int i = 0; i < 3; i++)
		rotate();
	keep((struct coll_keep){ .age_s = 24 * HOUR });
	cr_assert_eq(removed(), 0);
	set_by = -YEAR;
	rotate();
	cr_expect_eq(removed(), 0);
	slept = 25 * HOUR;
	cr_expect_eq(removed(), 4);
}

/* Rotated before the daemon, by another: their age is that of the day. */
Test(clock, tells_the_age_of_sessions_that_were_there_before)
{
	rotate();
	set_by = 25 * HOUR;
	rotate();
	rotate();
	keep((struct coll_keep){ .age_s = 24 * HOUR });
	cr_expect_eq(removed(), 1);
}
