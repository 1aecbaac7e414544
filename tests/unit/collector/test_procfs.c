/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/who/procfs.h"
#include "collector/who/tasks.h"

Test(procfs, reads_executable_mappings_only)
{
	char line[] = "7f0000001000-7f0000003000 r-xp 00001000 fe:02 4711       "
		      "/usr/lib/x y.so";
	char data[] = "7f0000001000-7f0000003000 rw-p 00001000 fe:02 4711 /usr/lib/x.so";
	struct coll_mmap m;

	cr_assert(coll_proc_maps_line(line, &m));
	cr_expect_eq(m.start, 0x7f0000001000);
	cr_expect_eq(m.len, 0x2000);
	cr_expect_eq(m.pgoff, 0x1000);
	cr_expect_eq(m.dev_major, 0xfe);
	cr_expect_eq(m.dev_minor, 2);
	cr_expect_eq(m.inode, 4711);
	cr_expect_str_eq(m.filename, "/usr/lib/x y.so");
	cr_expect_not(coll_proc_maps_line(data, &m));
}

Test(procfs, names_memory_without_a_file_as_perf_does)
{
	char anon[] = "1000-2000 r-xp 00000000 00:00 0 ";
	char vdso[] = "1000-2000 r-xp 00000000 00:00 0          [vdso]";
	struct coll_mmap m;

	cr_assert(coll_proc_maps_line(anon, &m));
	cr_expect_str_eq(m.filename, "//anon");
	cr_assert(coll_proc_maps_line(vdso, &m));
	cr_expect_str_eq(m.filename, "[vdso]");
}

Test(procfs, decodes_newlines_in_names)
{
	char line[] = "1000-2000 r-xp 00000000 00:00 5 /tmp/a\\012b\\x";
	struct coll_mmap m;

	cr_assert(coll_proc_maps_line(line, &m));
	cr_expect_str_eq(m.filename, "/tmp/a\nb\\x");
}

Test(procfs, refuses_lines_that_make_no_sense)
{
	static const char *const lines[] = { "",
					     "x",
					     "1000",
					     "1000-",
					     "1000-2000",
					     "1000-2000 r-xp",
					     "2000-1000 r-xp 0 0:0 0 /x",
					     "1000-1000 r-xp 0 0:0 0 /x",
					     "1000-2000 r 0 0:0 0 /x" };
	struct coll_mmap m;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CLEANUP(free_ptr) char *copy = strdup(lines[i]);

		cr_expect_not(coll_proc_maps_line(copy, &m), "%s", lines[i]);
	}
}

/* What a helper would answer. */
static int ask(uint32_t tgid, struct strbuf *answer, struct coll_proc *out)
{
	coll_proc_answer((char *)&tgid, sizeof(tgid), answer, NULL);
	return coll_proc_take(answer->data, answer->len, out);
}

Test(procfs, knows_this_very_process)
{
	CLEANUP(free_ptr) char *exe = realpath("/proc/self/exe", NULL);
	CLEANUP(free_ptr) char *cmdline = coll_proc_cmdline((uint32_t)getpid());
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	struct coll_images images;
	struct coll_tasks tasks;
	struct coll_task *self;
	struct coll_proc proc;

	cr_assert_eq(coll_images_init(&images, -1, NULL), 0);
	coll_tasks_init(&tasks, &images, -1);
	prctl(PR_SET_NAME, "odd) \\n\n(");
	cr_assert_eq(ask((uint32_t)getpid(), &answer, &proc), 0);
	self = coll_tasks_need(&tasks, (uint32_t)getpid());
	cr_assert_eq(coll_tasks_learn(&tasks, self, &proc), 0);
	cr_assert(self->exe);
	cr_expect_str_eq(self->exe->path, exe);
	cr_expect_str_eq(self->comm, "odd) \\n\n(");
	cr_expect_eq(self->parent, (uint32_t)getppid());
	cr_expect(self->known);
	cr_expect(cmdline && cmdline[0]);
	cr_expect_str_eq(self->words->cmdline, cmdline);
	/* the code of this function lies in the program */
	cr_expect_eq(coll_space_find(self->space, (uintptr_t)coll_proc_take)->file,
		     self->exe);
	cr_expect_eq(coll_proc_tgid((uint32_t)getpid()), (uint32_t)getpid());
	cr_expect_not(coll_proc_is_over((uint32_t)getpid()));
	coll_tasks_fini(&tasks);
	coll_images_fini(&images);
}

Test(procfs, does_not_take_one_process_for_another_of_its_number)
{
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	struct coll_images images;
	struct coll_tasks tasks;
	struct coll_task *self;
	struct coll_proc proc;

	cr_assert_eq(coll_images_init(&images, -1, NULL), 0);
	coll_tasks_init(&tasks, &images, -1);
	self = coll_tasks_need(&tasks, (uint32_t)getpid());
	self->start_ns = 1000000000;
	cr_assert_eq(ask((uint32_t)getpid(), &answer, &proc), 0);
	cr_expect_eq(coll_tasks_learn(&tasks, self, &proc), -ESRCH);
	cr_expect_null(self->exe);
	coll_tasks_fini(&tasks);
	coll_images_fini(&images);
}

Test(procfs, says_that_a_process_is_not_there)
{
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	struct coll_proc proc;

	cr_expect_eq(ask(0x7fffffff, &answer, &proc), -ESRCH);
	cr_expect_null(coll_proc_cmdline(0x7fffffff));
	cr_expect_null(coll_proc_cgroup(0x7fffffff));
	cr_expect_eq(coll_proc_tgid(0x7fffffff), 0);
	cr_expect(coll_proc_is_over(0x7fffffff));
}

/* A process is over when its last thread has ended, not when its first one has. */
Test(procfs, knows_when_a_process_is_over)
{
	pid_t pid = fork();
	siginfo_t info;

	if (!pid)
		_exit(0);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	cr_expect(coll_proc_is_over((uint32_t)pid)); /* a zombie */
	waitpid(pid, NULL, 0);
	cr_expect(coll_proc_is_over((uint32_t)pid));
}

static pthread_barrier_t met;

static void *be_a_thread(void *tid)
{
	prctl(PR_SET_NAME, "C2 Compiler\n");
	*(uint32_t *)tid = (uint32_t)syscall(SYS_gettid);
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	return NULL;
}

Test(procfs, tells_threads_and_their_names_if_asked)
{
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	uint32_t me = (uint32_t)getpid(), tid;
	const struct coll_thread *thread;
	struct coll_images images;
	struct coll_tasks tasks;
	struct coll_proc proc;
	pthread_t id;

	pthread_barrier_init(&met, NULL, 2);
	cr_assert_eq(pthread_create(&id, NULL, be_a_thread, &tid), 0);
	pthread_barrier_wait(&met);
	coll_proc_answer_threads((char *)&me, sizeof(me), &answer, NULL);
	pthread_barrier_wait(&met);
	pthread_join(id, NULL);
	cr_assert_eq(coll_proc_take(answer.data, answer.len, &proc), 0);
	cr_assert_geq(proc.nr_threads, 1);
	cr_assert_eq(coll_images_init(&images, -1, NULL), 0);
	coll_tasks_init(&tasks, &images, -1);
	tasks.threads.wanted = true;
	cr_assert_eq(coll_tasks_learn(&tasks, coll_tasks_need(&tasks, me), &proc), 0);
	thread = coll_threads_find(&tasks.threads, me, tid);
	cr_assert(thread);
	cr_expect_str_eq(thread->comm, "C2 Compiler\n");
	cr_expect(thread->start_ns);
	coll_tasks_fini(&tasks);
	coll_images_fini(&images);
	/* one that is cut short is none */
	cr_expect_eq(coll_proc_take(answer.data, answer.len - 1, &proc), -EBADMSG);
}
