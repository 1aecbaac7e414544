/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/source/perf.h"
#include "collector/source/perf_open.h"

enum { BUSY_NS = 1000000 };

static int take(void *ctx, const struct coll_rec *rec)
{
	*(size_t *)ctx += rec->kind == COLL_REC_SAMPLE;
	return 0;
}

/* Samples that are handed over after this process computed for a while. */
static size_t samples_of_a_while(struct coll_source *s)
{
	uint64_t end = clock_thread_ns() + BUSY_NS;
	size_t samples = 0;

	while (clock_thread_ns() < end)
		;
	cr_assert_geq(s->ops->drain(s, false, take, &samples), 0);
	return samples;
}

static void run_program(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

Test(perf, is_quiet_while_processes_only_run_and_wakes_when_one_begins, .timeout = 1000)
{
	struct coll_event event = { .rate_hz = 10000 };
	const struct coll_source_want want = { .events = &event, .nr_events = 1 };
	struct coll_source *s = NULL;
	char notes[256];
	struct err err = { 0 };
	struct pollfd p;
	int rc;

	cr_assert_eq(ev_spec_parse("TIMER", &event.spec, &err), 0, "%s", err.msg);
	rc = coll_source_perf.open(&want, &s, notes, &err);
	if ((rc == -EACCES || rc == -EPERM) && geteuid())
		cr_skip_test("whole CPUs are not this user's to watch");
	cr_assert_eq(rc, 0, "%s", err.msg);
	cr_assert_eq(s->ops->start(s, &err), 0, "%s", err.msg);
	/* other programs begin at any time */
	while (!samples_of_a_while(s) || !s->quiet)
		;
	run_program();
	p = (struct pollfd){ .fd = s->ops->poll_fd(s), .events = POLLIN };
	cr_assert_eq(poll(&p, 1, 600000), 1);
	samples_of_a_while(s);
	cr_expect_not(s->quiet);
	s->ops->free(s);
}
