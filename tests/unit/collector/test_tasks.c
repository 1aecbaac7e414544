/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <unistd.h>

#include "collector/who/tasks.h"

static struct coll_images images;
static struct coll_tasks tasks;

static void setup(void)
{
	cr_assert_eq(coll_images_init(&images, -1, NULL), 0);
	coll_tasks_init(&tasks, &images, -1);
}

static void teardown(void)
{
	coll_tasks_fini(&tasks);
	coll_images_fini(&images);
}

TestSuite(tasks, .init = setup, .fini = teardown);

static void map_file(uint32_t tgid, uint64_t start, const char *name)
{
	struct coll_mmap m = {
		.start = start, .len = 0x1000, .filename = name, .inode = 1
	};

	cr_assert_eq(coll_tasks_mmap(&tasks, tgid, &m), 0);
}

static void fork_of(uint32_t parent, uint32_t tgid, uint32_t tid)
{
	struct coll_rec rec = { .kind = COLL_REC_FORK,
				.tgid = tgid,
				.tid = tid,
				.parent = { parent, parent },
				.time_ns = 10 };

	cr_assert_eq(coll_tasks_fork(&tasks, &rec), 0);
}

static void exec_of(uint32_t tgid, const char *name, const char *exe)
{
	struct coll_rec rec = { .kind = COLL_REC_COMM, .tgid = tgid, .tid = tgid };

	rec.comm.name = name;
	rec.comm.exec = true;
	cr_assert_eq(coll_tasks_comm(&tasks, &rec), 0);
	map_file(tgid, 0x400000, exe);
}

static void exit_of(uint32_t tgid, uint32_t tid, uint64_t time_ns)
{
	struct coll_rec rec = {
		.kind = COLL_REC_EXIT, .tgid = tgid, .tid = tid, .time_ns = time_ns
	};

	coll_tasks_exit(&tasks, &rec);
}

static const char *app(uint32_t tgid)
{
	struct coll_task *t = coll_tasks_find(&tasks, tgid);

	return t && t->exe ? t->exe->path : "-";
}

static const char *mapped(uint32_t tgid, uint64_t addr)
{
	struct coll_task *t = coll_tasks_find(&tasks, tgid);
	struct coll_map *m = t ? coll_space_find(t->space, addr) : NULL;

	return !m ? "-" : m->file ? m->file->path : m->label;
}

Test(tasks, take_the_first_file_mapped_after_exec_for_the_application)
{
	cr_assert(coll_tasks_need(&tasks, 5));
	exec_of(5, "prog", "/bin/prog");
	map_file(5, 0x500000, "/lib/ld.so");
	cr_expect_str_eq(app(5), "/bin/prog");
	cr_expect_str_eq(mapped(5, 0x500010), "/lib/ld.so");
}

Test(tasks, give_a_child_its_parents_program_and_mappings_until_it_executes)
{
	cr_assert(coll_tasks_need(&tasks, 5));
	exec_of(5, "sh", "/bin/sh");
	fork_of(5, 6, 6);
	cr_expect_str_eq(app(6), "/bin/sh");
	cr_expect_str_eq(mapped(6, 0x400010), "/bin/sh");
	cr_expect_str_eq(coll_tasks_find(&tasks, 6)->comm, "sh");
	exec_of(6, "ls", "/bin/ls");
	cr_expect_str_eq(app(6), "/bin/ls");
	cr_expect_str_eq(app(5), "/bin/sh");
	cr_expect_str_eq(mapped(5, 0x400010), "/bin/sh");
}

Test(tasks, forget_all_mappings_at_exec)
{
	cr_assert(coll_tasks_need(&tasks, 5));
	exec_of(5, "a", "/bin/a");
	map_file(5, 0x700000, "/lib/liba.so");
	exec_of(5, "b", "/bin/b");
	cr_expect_str_eq(mapped(5, 0x700010), "-");
}

Test(tasks, follow_the_tree_through_forks_and_not_beyond)
{
	struct coll_task *first = coll_tasks_need(&tasks, 5);

	cr_assert(first);
	first->await_exec = true;
	fork_of(5, 6, 6); /* before the command runs: not its child */
	cr_expect_not(coll_tasks_find(&tasks, 6)->in_tree);
	exec_of(5, "cmd", "/bin/cmd");
	cr_expect(first->in_tree);
	fork_of(5, 7, 7);
	fork_of(7, 8, 8);
	fork_of(99, 9, 9);
	cr_expect(coll_tasks_find(&tasks, 8)->in_tree);
	cr_expect_not(coll_tasks_find(&tasks, 9)->in_tree);
}

Test(tasks, start_anew_when_a_number_is_used_again)
{
	struct coll_task *first = coll_tasks_need(&tasks, 5);

	cr_assert(first);
	coll_tasks_adopt(first);
	exec_of(5, "old", "/bin/old");
	exit_of(5, 5, 100);
	fork_of(99, 5, 5);
	cr_expect_not(coll_tasks_find(&tasks, 5)->in_tree);
	cr_expect_str_eq(app(5), "-");
	cr_expect_str_eq(mapped(5, 0x400010), "-");
	coll_tasks_sweep(&tasks, 1000);
	cr_expect(coll_tasks_find(&tasks, 5));
}

/* Threads are not counted: the kernel is asked whether the process is over. */
Test(tasks, remember_a_process_a_while_after_its_last_thread_ended)
{
	const uint32_t alive = (uint32_t)getpid(), gone = 0x7ffffff0;

	cr_assert(coll_tasks_need(&tasks, alive) && coll_tasks_need(&tasks, gone));
	exec_of(gone, "p", "/bin/p");
	for (uint32_t i = 0; i < 5; i++)
		exit_of(alive, alive + i, 100);
	exit_of(gone, gone, 2000);
	coll_tasks_sweep(&tasks, 1000);
	cr_expect(coll_tasks_find(&tasks, alive));
	coll_tasks_sweep(&tasks, 2000);
	cr_expect_str_eq(app(gone), "/bin/p");
	coll_tasks_sweep(&tasks, 2001);
	cr_expect_null(coll_tasks_find(&tasks, gone));
	cr_expect_not(coll_tasks_find(&tasks, alive)->dead_ns);
}

Test(tasks, survive_ten_thousand_lives_under_few_numbers)
{
	cr_assert(coll_tasks_need(&tasks, 1));
	exec_of(1, "p", "/bin/p");
	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t tgid = 2 + i % 7;

		fork_of(1 + i % 3, tgid, tgid);
		if (i % 2)
			exec_of(tgid, "q", "/bin/q");
		if (i % 5)
			exit_of(tgid, tgid, i + 1);
		if (i % 11 == 0)
			coll_tasks_sweep(&tasks, i);
	}
	cr_expect_leq(tasks.by_tgid.used, 10);
}

Test(tasks, take_memory_without_a_file_by_its_label)
{
	cr_assert(coll_tasks_need(&tasks, 5));
	exec_of(5, "p", "/bin/p");
	map_file(5, 0x1000, "//anon");
	map_file(5, 0x2000, "[vdso]");
	map_file(5, 0x3000, "[anon:jit]");
	map_file(5, 0x4000, "/dev/zero (deleted)");
	map_file(5, 0x5000, "/memfd:code (deleted)");
	map_file(5, 0x6000, "/opt/lib.so (deleted)");
	cr_expect_str_eq(mapped(5, 0x1000), "anon");
	cr_expect_str_eq(mapped(5, 0x2000), "[vdso]");
	cr_expect_str_eq(mapped(5, 0x3000), "anon");
	cr_expect_str_eq(mapped(5, 0x4000), "anon");
	cr_expect_str_eq(mapped(5, 0x5000), "anon");
	cr_expect_str_eq(mapped(5, 0x6000), "/opt/lib.so");
}

Test(tasks, accept_a_program_that_lies_in_a_memfd)
{
	cr_assert(coll_tasks_need(&tasks, 5));
	exec_of(5, "p", "/memfd:prog (deleted)");
	cr_expect_str_eq(app(5), "/memfd:prog");
}

Test(tasks, ignore_mappings_that_end_nowhere)
{
	struct coll_mmap empty = { .start = 5, .filename = "/x" };
	struct coll_mmap wraps = { .start = UINT64_MAX - 5, .len = 10, .filename = "/x" };

	cr_assert(coll_tasks_need(&tasks, 5));
	cr_expect_eq(coll_tasks_mmap(&tasks, 5, &empty), 0);
	cr_expect_eq(coll_tasks_mmap(&tasks, 5, &wraps), 0);
	cr_expect_eq(coll_tasks_find(&tasks, 5)->space->nr, 0);
}

static uint32_t stored(uint32_t tgid)
{
	return coll_tasks_stored(&tasks, coll_tasks_need(&tasks, tgid));
}

/* A process that began at @start_ns, as a fork tells. */
static void begin(uint32_t tgid, uint64_t start_ns)
{
	struct coll_rec rec = { .kind = COLL_REC_FORK,
				.tgid = tgid,
				.tid = tgid,
				.parent = { 1, 1 },
				.time_ns = start_ns };

	cr_assert_eq(coll_tasks_fork(&tasks, &rec), 0);
}

Test(tasks, a_number_that_is_used_again_is_another_process)
{
	const uint64_t second = 1000000000;

	begin(7, second);
	cr_expect_eq(stored(7), 7);
	exec_of(7, "b", "/bin/b");
	cr_expect_eq(stored(7), 7); /* the same process */
	exit_of(7, 7, 2 * second);
	begin(7, 3 * second);
	cr_expect_eq(stored(7), 7 + (1u << 22));
	coll_tasks_forget(&tasks, 7);
	begin(7, 4 * second);
	cr_expect_eq(stored(7), 7 + (2u << 22));
	/* found once more in /proc, which tells the time less exactly */
	coll_tasks_forget(&tasks, 7);
	coll_tasks_need(&tasks, 7)->start_ns = 4 * second - 9000000;
	cr_expect_eq(stored(7), 7 + (2u << 22));
	/* who was never asked for took no number */
	coll_tasks_forget(&tasks, 8);
	begin(8, second);
	coll_tasks_forget(&tasks, 8);
	begin(8, 2 * second);
	cr_expect_eq(stored(8), 8);
	cr_expect_eq(stored(0), 0);
	cr_expect_eq(stored(UINT32_MAX), UINT32_MAX);
}

Test(tasks, another_session_begins_with_the_numbers_themselves)
{
	begin(7, 1000000000);
	stored(7);
	coll_tasks_forget(&tasks, 7);
	begin(7, 2000000000);
	cr_expect_neq(stored(7), 7);
	coll_tasks_move(&tasks, -1);
	cr_expect_eq(stored(7), 7);
}

/* ---- threads */

static void thread_of(uint32_t tgid, uint32_t maker, uint32_t tid, uint64_t time_ns)
{
	struct coll_rec rec = { .kind = COLL_REC_FORK,
				.tgid = tgid,
				.tid = tid,
				.parent = { tgid, maker },
				.time_ns = time_ns };

	cr_assert_eq(coll_tasks_fork(&tasks, &rec), 0);
}

static void rename_to(uint32_t tgid, uint32_t tid, const char *name)
{
	struct coll_rec rec = { .kind = COLL_REC_COMM, .tgid = tgid, .tid = tid };

	rec.comm.name = name;
	cr_assert_eq(coll_tasks_comm(&tasks, &rec), 0);
}

static const char *thread_name(uint32_t tgid, uint32_t tid)
{
	const struct coll_thread *t = coll_threads_find(&tasks.threads, tgid, tid);

	return t ? t->comm : "-";
}

Test(tasks, give_a_thread_the_name_of_its_maker_until_it_has_one)
{
	tasks.threads.wanted = true;
	cr_assert(coll_tasks_need(&tasks, 5));
	exec_of(5, "prog", "/bin/prog");
	thread_of(5, 5, 6, 20);
	rename_to(5, 5, "later");
	cr_expect_str_eq(thread_name(5, 6), "prog");
	rename_to(5, 6, "a name of more than fifteen");
	thread_of(5, 6, 7, 30);
	cr_expect_str_eq(thread_name(5, 7), "a name of more ");
	cr_expect_str_eq(coll_tasks_find(&tasks, 5)->comm, "later");
	/* so is a process that it starts */
	cr_assert_eq(coll_tasks_fork(&tasks, &(struct coll_rec){ .kind = COLL_REC_FORK,
								 .tgid = 8,
								 .tid = 8,
								 .parent = { 5, 7 } }),
		     0);
	cr_expect_str_eq(coll_tasks_find(&tasks, 8)->comm, "a name of more ");
	/* the number is in use again: another thread, of another process */
	thread_of(8, 8, 6, 5000000000);
	cr_expect_str_eq(thread_name(5, 6), "-");
	cr_expect_str_eq(thread_name(8, 6), "a name of more ");
}

Test(tasks, know_no_threads_unless_they_are_kept_apart)
{
	cr_assert(coll_tasks_need(&tasks, 5));
	thread_of(5, 5, 6, 20);
	rename_to(5, 6, "x");
	cr_expect_eq(tasks.threads.by_tid.used, 0);
}

Test(tasks, forget_threads_that_ended_and_those_whose_end_was_lost)
{
	const uint32_t me = (uint32_t)getpid();

	tasks.threads.wanted = true;
	for (uint32_t i = 0; i < 100000; i++) {
		thread_of(me, me, INT32_MAX - i, i);
		rename_to(me, INT32_MAX - i, "worker");
		if (i % 1000)
			exit_of(me, INT32_MAX - i, i);
		coll_tasks_sweep(&tasks, i);
	}
	cr_expect_eq(tasks.threads.by_tid.used, 101);
	cr_expect_str_eq(thread_name(me, INT32_MAX - 99999), "worker");
	coll_tasks_bury(&tasks, 100000);
	coll_tasks_sweep(&tasks, 200000);
	cr_expect_eq(tasks.threads.by_tid.used, 0);
	cr_expect_not(coll_tasks_find(&tasks, me)->dead_ns);
}
