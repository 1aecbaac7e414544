/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/session/tasks.h"
#include "tests/unit/libspec/scratch.h"

Test(tasks, rows_come_back_as_they_were_appended)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_tasks_fini) struct spec_tasks t = { 0 };
	char comm[] = "a b", cmdline[] = "prog\t--x=%41\n";
	struct spec_task row = { .tgid = 1,
				 .tid = UINT32_MAX,
				 .start_ns = UINT64_MAX,
				 .comm = comm,
				 .cmdline = cmdline };

	cr_assert_eq(spec_tasks_append(s.fd, &row, NULL), 0);
	cr_assert_eq(spec_tasks_read(s.fd, &t, NULL), 0);
	cr_assert_eq(t.nr, 1);
	cr_expect_eq(t.rows[0].tgid, 1);
	cr_expect_eq(t.rows[0].tid, UINT32_MAX);
	cr_expect_eq(t.rows[0].start_ns, UINT64_MAX);
	cr_expect_str_eq(t.rows[0].comm, comm);
	cr_expect_str_eq(t.rows[0].cmdline, cmdline);
	cr_expect_null(t.rows[0].cgroup);
}

Test(tasks, a_later_row_replaces_the_same_task_only)
{
	static const char text[] = "# opfs tasks 1\n"
				   "1\t1\t5\tsh\t-\t-\n"
				   "1\t1\t5\tls\t-\t-\n"
				   "1\t1\t6\tsh\t-\t-\n"
				   "1\t2\t5\tsh\t-\t-\n"
				   "x\t2\t5\tsh\t-\t-\n"
				   "4294967296\t2\t5\tsh\t-\t-\n";
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_tasks_fini) struct spec_tasks t = { 0 };

	scratch_write(&s, "tasks", text, strlen(text));
	cr_assert_eq(spec_tasks_read(s.fd, &t, NULL), 0);
	cr_assert_eq(t.nr, 3);
	cr_expect_str_eq(t.rows[0].comm, "ls");
	cr_expect_eq(t.rows[1].start_ns, 6);
	cr_expect_eq(t.rows[2].tid, 2);
}

Test(tasks, a_thread_has_what_its_process_has_whichever_row_comes_first)
{
	static const char text[] = "# opfs tasks 1\n"
				   "1\t2\t6\tworker\t-\t-\n"
				   "1\t1\t5\tprog\tprog -x\t/a\n"
				   "1\t1\t5\tprog\tprog -y\t-\n"
				   "3\t4\t6\tworker\t-\t-\n";
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_tasks_fini) struct spec_tasks t = { 0 };

	scratch_write(&s, "tasks", text, strlen(text));
	cr_assert_eq(spec_tasks_read(s.fd, &t, NULL), 0);
	cr_assert_eq(t.nr, 3);
	cr_expect_str_eq(t.rows[0].comm, "worker");
	cr_expect_str_eq(t.rows[0].cmdline, "prog -y");
	cr_expect_str_eq(t.rows[0].cgroup, "/a");
	cr_expect_eq(t.rows[0].process, &t.rows[1]);
	cr_expect_eq(t.rows[2].process, &t.rows[2]);
	cr_expect_null(t.rows[2].cmdline);
}
