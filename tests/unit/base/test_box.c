/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/box/box.h"
#include "base/box/pass.h"
#include "base/box/state.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"

enum { ANSWER = 7, PREPARED = 11 };

static int prepared;

static int prepare(void)
{
	prepared = PREPARED;
	return 0;
}

static uint64_t processor_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return clock_ns_of(&t);
}

static void spin(uint64_t ns)
{
	while (processor_ns() < ns)
		;
}

static void tell(const char *s)
{
	file_write_all(BOX_FD, s, strlen(s));
}

static void tell_links(const char *dir)
{
	CLEANUP(close_dir) DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char to[256];
		ssize_t n = readlinkat(dirfd(d), e->d_name, to, sizeof(to) - 1);

		if (n < 0 || atoi(e->d_name) == dirfd(d))
			continue;
		to[n] = '\0';
		tell(e->d_name);
		tell(" ");
		tell(to);
		tell("\n");
	}
}

static void tell_file(const char *path)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	file_slurp(AT_FDCWD, path, 1 << 20, &b, NULL);
	tell(strbuf_str(&b));
}

static void tell_surroundings(pid_t box)
{
	char path[64];

	for (char **e = environ; *e; e++) {
		tell(*e);
		tell("\n");
	}
	tell_links("/proc/self/fd");
	tell_file("/proc/self/maps");
	snprintf(path, sizeof(path), "/proc/%d/fd", box);
	tell_links(path);
	snprintf(path, sizeof(path), "/proc/%d/maps", box);
	tell_file(path);
	snprintf(path, sizeof(path), "cwd %s, group %s\n", get_current_dir_name(),
		 getpgrp() == box ? "own" : "other");
	tell(path);
}

/* A letter says what to do. */
static int job(pid_t box, const struct box_limits *limits)
{
	struct timespec pause = { .tv_nsec = 50000000 };
	int pair[2];
	char what;

	if (read(BOX_FD, &what, 1) != 1)
		return 1;
	switch (what) {
	case 'a':
		tell("hello");
		return prepared == PREPARED && limits->cpu_s == 5 ? ANSWER : 1;
	case 'c':
		tell("half");
		signal(SIGSEGV, SIG_DFL); /* no sanitizer's words */
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
		raise(SIGSEGV);
		return 1;
	case 'b':
		return pipe(pair) || read(pair[0], &what, 1) != 1;
	case 's':
		spin(1000000000);
		return ANSWER;
	case 'w':
		for (int i = 0; i < 20; i++)
			nanosleep(&pause, NULL);
		return ANSWER;
	case 'f':
		for (;;)
			nanosleep(&pause, NULL);
	case 'e':
		tell_surroundings(box);
		return ANSWER;
	default:
		return 1;
	}
}

static const struct box_kind test_kind = {
	.name = "a test's box",
	.prepare = prepare,
	.job = job,
};

static int refuse(void)
{
	return -1;
}

static const struct box_kind unprepared_kind = {
	.name = "unprepared",
	.prepare = refuse,
	.job = job,
	.quiet = true,
};

__attribute__((constructor)) static void be_box(int argc, char **argv)
{
	static const struct box_kind *const kinds[] = { &unprepared_kind, &test_kind };

	if (box_wanted(argc, argv))
		_exit(box_main(kinds, 2, argc, argv));
}

static struct box box = BOX_NONE;

static void start(void)
{
	struct err err = { 0 };

	cr_assert_eq(box_start(&test_kind, NULL, &box, &err), 0, "%s", err.msg);
}

static void stop(void)
{
	box_end(&box);
}

TestSuite(box, .init = start, .fini = stop, .timeout = 1000);

static int begin(char what, const struct box_limits *limits)
{
	struct box_limits none = { .cpu_s = 5 };
	int pair[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	cr_assert_eq(box_job(&box, pair[1], limits ? limits : &none), 0);
	close(pair[1]);
	cr_assert_eq(send(pair[0], &what, 1, MSG_NOSIGNAL), 1);
	return pair[0];
}

/* What the job wrote; false if there is no trailer behind it. */
static bool finish(int fd, struct strbuf *out, struct box_trailer *t)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		strbuf_add(out, buf, (size_t)n);
	close(fd);
	memset(t, 0, sizeof(*t));
	if (out->len < sizeof(*t))
		return false;
	memcpy(t, out->data + out->len - sizeof(*t), sizeof(*t));
	if (t->magic != BOX_TRAILER_MAGIC)
		return false;
	strbuf_truncate(out, out->len - sizeof(*t));
	return true;
}

static void expect_end(int fd, int status, enum box_end end, const char *said)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct box_trailer t;

	cr_assert(finish(fd, &out, &t));
	cr_expect_eq(t.status, status, "%#x", (unsigned)t.status);
	cr_expect_eq(t.end, end);
	cr_expect_str_eq(strbuf_str(&out), said);
}

Test(box, a_job_answers)
{
	expect_end(begin('a', NULL), ANSWER << 8, BOX_END_ITSELF, "hello");
	expect_end(begin('a', NULL), ANSWER << 8, BOX_END_ITSELF, "hello");
}

Test(box, the_trailer_tells_of_a_job_that_crashed)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct box_trailer t;

	cr_assert(finish(begin('c', NULL), &out, &t));
	cr_expect(WIFSIGNALED(t.status));
	cr_expect_eq(WTERMSIG(t.status), SIGSEGV);
	cr_expect_str_eq(strbuf_str(&out), "half");
	expect_end(begin('a', NULL), ANSWER << 8, BOX_END_ITSELF, "hello");
}

/* The job that the box has; 0: none. */
static pid_t find_job(void)
{
	char path[64], pid[32];
	CLEANUP(close_file) FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", box.pid, box.pid);
	f = fopen(path, "re");
	return f && fgets(pid, sizeof(pid), f) ? atoi(pid) : 0;
}

static pid_t wait_for_job(void)
{
	pid_t pid;

	while (!(pid = find_job()))
		usleep(1000);
	return pid;
}

Test(box, the_trailer_tells_of_a_job_that_was_killed)
{
	int fd = begin('b', NULL);

	cr_assert_eq(kill(wait_for_job(), SIGKILL), 0);
	expect_end(fd, SIGKILL, BOX_END_ITSELF, "");
}

Test(box, a_job_ends_when_nobody_waits_for_it)
{
	int fd = begin('b', NULL);

	wait_for_job();
	close(fd);
	while (find_job())
		usleep(1000);
	expect_end(begin('a', NULL), ANSWER << 8, BOX_END_ITSELF, "hello");
}

Test(box, a_dead_box_ends_its_jobs_and_another_can_be_started)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	const struct box_limits none = { 0 };
	struct box_trailer t;
	int fd = begin('b', NULL);
	pid_t its = wait_for_job();

	cr_assert_eq(kill(box.pid, SIGKILL), 0);
	cr_expect_not(finish(fd, &out, &t));
	while (!kill(its, 0))
		usleep(1000);
	fd = dup(2);
	cr_expect(box_job(&box, fd, &none) < 0);
	close(fd);
	box_end(&box);
	cr_expect_eq(box.pid, 0);
	cr_expect(box_job(&box, 2, &none) < 0);
	start();
	expect_end(begin('a', NULL), ANSWER << 8, BOX_END_ITSELF, "hello");
}

Test(box, nothing_of_the_program_is_open_or_mapped_in_box_or_job)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	char path[] = "/tmp/opfs-test-box.XXXXXX";
	int fd = mkstemp(path), again;
	int high = fcntl(fd, F_DUPFD, 60); /* not closed by exec */
	struct box_trailer t;
	void *map;

	cr_assert_eq(ftruncate(fd, 4096), 0);
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	setenv("OPFS_SECRET", "1", 1);
	setenv("OPFS_TEST_VISIBLE", "1", 1);
	box_end(&box);
	start();
	cr_assert(finish(begin('e', NULL), &out, &t));
	cr_expect_eq(t.status, ANSWER << 8);
	cr_expect_null(strstr(strbuf_str(&out), path), "%s", strbuf_str(&out));
	cr_expect_null(strstr(strbuf_str(&out), "OPFS_SECRET"));
	cr_expect_null(strstr(strbuf_str(&out), "HOME="));
	cr_expect_not_null(strstr(strbuf_str(&out), "OPFS_TEST_VISIBLE=1\n"));
	cr_expect_not_null(strstr(strbuf_str(&out), "0 /dev/null\n1 /dev/null\n"));
	cr_expect_not_null(strstr(strbuf_str(&out), "\n3 socket:"));
	cr_expect_not_null(strstr(strbuf_str(&out), "cwd /, group own\n"));
	close(fd);
	close(high);
	again = open(path, O_RDWR | O_CLOEXEC);
	munmap(map, 4096);
	cr_expect_eq(flock(again, LOCK_EX | LOCK_NB), 0, "the box holds the lock");
	close(again);
	unlink(path);
}

Test(box, a_job_that_is_blocked_is_ended)
{
	const struct box_limits limits = { .blocked_ms = 300 };

	expect_end(begin('b', &limits), SIGKILL, BOX_END_BLOCKED, "");
}

Test(box, a_stopped_job_is_blocked_too)
{
	const struct box_limits limits = { .blocked_ms = 300 };
	int fd = begin('s', &limits);

	cr_assert_eq(kill(wait_for_job(), SIGSTOP), 0);
	expect_end(fd, SIGKILL, BOX_END_BLOCKED, "");
}

Test(box, a_job_that_runs_is_not_blocked)
{
	const struct box_limits limits = { .blocked_ms = 300 };

	expect_end(begin('s', &limits), ANSWER << 8, BOX_END_ITSELF, "");
}

Test(box, many_short_waits_are_no_block)
{
	const struct box_limits limits = { .blocked_ms = 300 };

	expect_end(begin('w', &limits), ANSWER << 8, BOX_END_ITSELF, "");
}

Test(box, many_short_waits_may_be_too_many)
{
	const struct box_limits limits = { .waits_ms = 300 };

	expect_end(begin('f', &limits), SIGKILL, BOX_END_BLOCKED, "");
}

Test(box, more_jobs_than_fit_wait)
{
	int fds[BOX_MAX_JOBS + 6];

	for (int i = 0; i < BOX_MAX_JOBS; i++)
		fds[i] = begin('b', NULL);
	for (int i = BOX_MAX_JOBS; i < BOX_MAX_JOBS + 6; i++)
		fds[i] = begin('a', NULL);
	for (int i = 0; i < BOX_MAX_JOBS; i++)
		close(fds[i]);
	for (int i = BOX_MAX_JOBS; i < BOX_MAX_JOBS + 6; i++)
		expect_end(fds[i], ANSWER << 8, BOX_END_ITSELF, "hello");
}

static void *start_in_thread(void *arg)
{
	(void)arg;
	start();
	return NULL;
}

Test(box, outlives_the_thread_that_started_it)
{
	pthread_t thread;

	box_end(&box);
	cr_assert_eq(pthread_create(&thread, NULL, start_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	expect_end(begin('a', NULL), ANSWER << 8, BOX_END_ITSELF, "hello");
	usleep(50000);
	expect_end(begin('a', NULL), ANSWER << 8, BOX_END_ITSELF, "hello");
}

Test(box, ends_with_its_program_though_a_child_holds_its_socket)
{
	int fds[2], held[2];
	pid_t child, its;

	cr_assert_eq(pipe2(fds, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(held, O_CLOEXEC), 0);
	child = fork();
	if (!child) { /* its own child holds the control socket and everything else */
		struct box b;

		if (box_start(&test_kind, NULL, &b, NULL) ||
		    write(fds[1], &b.pid, sizeof(b.pid)) < 0)
			_exit(1);
		close(held[1]);
		if (!fork()) {
			char c;

			close(fds[1]);
			_exit(read(held[0], &c, 1) < 0);
		}
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	cr_assert_eq(read(fds[0], &its, sizeof(its)), sizeof(its));
	while (!kill(its, 0)) {
		char path[64], line[256] = "";
		CLEANUP(close_file) FILE *f = NULL;

		snprintf(path, sizeof(path), "/proc/%d/stat", its);
		f = fopen(path, "re");
		if (!f || !fgets(line, sizeof(line), f) || strstr(line, ") Z "))
			break; /* who adopted it may not reap it */
		usleep(1000);
	}
	close(held[1]);
}

Test(box_without, a_box_that_cannot_prepare_ends, .timeout = 1000)
{
	const struct box_limits none = { 0 };
	struct box b = BOX_NONE;
	char c;
	int pair[2];

	box_end(&b); /* is fine */
	cr_assert_eq(box_start(&unprepared_kind, NULL, &b, NULL), 0);
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	box_job(&b, pair[1], &none); /* may come before or after its end */
	close(pair[1]);
	cr_expect(read(pair[0], &c, 1) <= 0);
	close(pair[0]);
	box_end(&b);
}

Test(box_without, a_program_that_is_not_there_is_named)
{
	struct box b;
	struct err err = { 0 };

	cr_expect_eq(box_start(&test_kind, "/nonexistent/x", &b, &err), -ENOENT);
	cr_expect_not_null(strstr(err.msg, "/nonexistent/x"), "%s", err.msg);
	cr_expect_eq(b.pid, 0);
	cr_expect_eq(b.control, -1);
}

Test(box_without, unknown_kinds_and_calls_by_hand_are_refused)
{
	static const struct box_kind *const kinds[] = { &test_kind };
	char name[] = "x", unknown[] = "--box=y", known[] = "--box=a test's box";
	char *a[] = { name, unknown, NULL }, *b[] = { name, known, NULL };
	int status = 0;
	pid_t child;

	cr_expect(box_wanted(2, a));
	cr_expect_not(box_wanted(1, a));
	cr_expect_eq(box_main(kinds, 1, 2, a), 2);
	child = fork();
	if (!child) {
		close(BOX_FD);
		_exit(box_main(kinds, 1, 2, b));
	}
	cr_expect_eq(waitpid(child, &status, 0), child);
	cr_expect_eq(status, 2 << 8);
}

Test(box_pass, a_descriptor_comes_with_its_message)
{
	int pair[2], fd, p[2];
	char c = 0;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	cr_assert_eq(pipe2(p, O_CLOEXEC), 0);
	cr_expect_eq(box_pass_send(pair[0], "x", 1, p[0]), 1);
	cr_expect_eq(box_pass_send(pair[0], "y", 1, -1), 1);
	cr_expect_eq(box_pass_receive(pair[1], &c, 1, 0, &fd), 1);
	cr_expect_eq(c, 'x');
	cr_assert(fd >= 0);
	cr_expect_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	cr_expect_eq(write(p[1], "z", 1), 1);
	cr_expect_eq(read(fd, &c, 1), 1);
	cr_expect_eq(c, 'z');
	cr_expect_eq(box_pass_receive(pair[1], &c, 1, 0, &fd), 1);
	cr_expect_eq(c, 'y');
	cr_expect_eq(fd, -1);
	close(pair[1]);
	cr_expect_eq(box_pass_send(pair[0], "x", 1, -1), -EPIPE);
}

static pid_t start_child(void (*what)(void))
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		what();
		_exit(0);
	}
	return pid;
}

static void spin_for_ever(void)
{
	for (;;)
		;
}

static void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

Test(box_state, of_a_spinning_process_is_not_waiting, .timeout = 1000)
{
	struct box_state s = { 0 };
	pid_t pid = start_child(spin_for_ever);

	for (int i = 0; i < 20; i++) {
		cr_expect_eq(box_state_look(&s, pid, clock_mono_ns()), 0);
		usleep(10000);
	}
	end_child(pid);
}

Test(box_state, of_a_sleeping_process_grows_by_what_was_seen, .timeout = 1000)
{
	const uint64_t at = 1000000000000, most = BOX_STATE_MOST_NS;
	struct box_state s = { 0 };
	pid_t pid = start_child(sleep_for_ever);

	do { /* until it sleeps */
		s = (struct box_state){ 0 };
		box_state_look(&s, pid, at);
		usleep(1000);
	} while (!s.waits || box_state_look(&s, pid, at + 5) != 5);
	cr_expect_eq(box_state_look(&s, pid, at + 15), 15);
	cr_expect_eq(box_state_look(&s, pid, at + 15 + 10 * most), 15 + most);
	kill(pid, SIGSTOP); /* it runs for a moment: another wait begins */
	while (box_state_look(&s, pid, at + 20 * most) != 0)
		usleep(1000);
	end_child(pid);
	cr_expect_eq(box_state_look(&s, pid, at + 21 * most), 0);
}

Test(box_state, of_a_dead_process_is_not_waiting, .timeout = 1000)
{
	struct box_state s = { 0 };
	pid_t pid = start_child(sleep_for_ever);
	siginfo_t info;

	kill(pid, SIGKILL);
	cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	for (int i = 0; i < 3; i++) /* a zombie */
		cr_expect_eq(box_state_look(&s, pid, 1000 + (uint64_t)i), 0);
	end_child(pid);
	cr_expect_eq(box_state_look(&s, pid, 2000), 0);
}
