/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/source/alarm.h"
#include "collector/source/cpus.h"

static void run_program(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("/bin/true", "true", NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

Test(alarm, wakes_when_a_program_begins_on_whichever_cpu)
{
	struct coll_alarm a;
	struct ids cpus = { 0 };
	struct err err = { 0 };

	int pipes[2];

	cr_assert_eq(coll_cpus_online(&cpus, &err), 0, "%s", err.msg);
	cr_assert_eq(pipe(pipes), 0);
	coll_alarm_init(&a, pipes[0], &cpus);
	if (a.epoll < 0 && geteuid())
		cr_skip_test("whole CPUs are not this user's to watch");
	cr_assert_geq(a.epoll, 0);
	for (int i = 0; i < 100; i++) {
		struct pollfd p = { .fd = a.epoll, .events = POLLIN };

		coll_forget_wakeups(a.epoll);
		run_program();
		cr_assert_eq(poll(&p, 1, 60000), 1, "round %d", i);
	}
	coll_alarm_fini(&a);
	cr_expect_eq(a.epoll, -1);
	ids_fini(&cpus);
	close(pipes[0]);
	close(pipes[1]);
}

Test(alarm, is_none_where_a_cpu_cannot_be_watched)
{
	struct coll_alarm a;
	struct ids cpus = { 0 };
	int pipes[2];

	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(ids_add(&cpus, 1 << 20), 0);
	coll_alarm_init(&a, pipes[0], &cpus);
	cr_expect_eq(a.epoll, -1);
	ids_fini(&cpus);
	close(pipes[0]);
	close(pipes[1]);
}
