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
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/cred.h"
#include "libsym/helper/image.h"
#include "libsym/server/server.h"

static struct sym_server *server;
/* This program.  /proc/self/exe is where nothing is read. */
static char exe[4096];
static const struct sym_job self = { .kind = SYM_USER, .path = exe };

static void start(void)
{
	cr_assert(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	server = sym_server_new(NULL);
	cr_assert_not_null(server);
}

static void stop(void)
{
	sym_server_free(server);
}

TestSuite(server, .init = start, .fini = stop, .timeout = 1000);

static struct sym_table *load(const struct sym_job *job)
{
	struct sym_table *t = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_server_load(server, job, NULL, &t, &err), 0, "%s", err.msg);
	cr_assert_not_null(t);
	return t;
}

Test(server, a_helper_tells_the_same_as_this_process)
{
	struct sym_table *a = load(&self), *b = NULL;
	int rc = sym_table_load(&self, &b, NULL);

	cr_assert_eq(rc, 0);
	cr_assert_eq(a->nr_syms, b->nr_syms);
	cr_assert(a->nr_syms > 100);
	for (size_t i = 0; i < a->nr_syms; i++) {
		cr_assert_eq(a->syms[i].off, b->syms[i].off);
		cr_assert_eq(a->syms[i].size, b->syms[i].size);
		cr_assert_eq(a->syms[i].vma, b->syms[i].vma);
		cr_assert_str_eq(sym_name(&a->syms[i]), sym_name(&b->syms[i]));
	}
	sym_table_put(a);
	sym_table_put(b);
}

/* How many helpers there are, and one of them: they are this process's children. */
static size_t find_helpers(pid_t *one)
{
	size_t nr = 0;
	CLEANUP(close_dir) DIR *dir = opendir("/proc");
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		char path[300], line[512] = "";
		CLEANUP(close_file) FILE *f = NULL;
		int ppid = 0;

		snprintf(path, sizeof(path), "/proc/%s/stat", e->d_name);
		f = atoi(e->d_name) > 0 ? fopen(path, "re") : NULL;
		if (!f || !fgets(line, sizeof(line), f) || !strrchr(line, ')'))
			continue;
		if (sscanf(strrchr(line, ')') + 1, " %*c %d", &ppid) == 1 &&
		    ppid == getpid()) {
			*one = atoi(e->d_name);
			nr++;
		}
	}
	return nr;
}

static pid_t find_helper(void)
{
	pid_t helper = 0;

	find_helpers(&helper);
	return helper;
}

Test(server, a_killed_helper_is_replaced)
{
	pid_t first, second;

	sym_table_put(load(&self));
	first = find_helper();
	cr_assert(first > 0);
	cr_assert_eq(kill(first, SIGKILL), 0);
	sym_table_put(load(&self));
	second = find_helper();
	cr_expect(second > 0 && second != first);
}

static void load_as(uid_t uid)
{
	const struct cred cred = { .uid = uid, .gid = uid };
	struct sym_job job = self;

	job.cred = &cred;
	sym_table_put(load(&job));
}

Test(server, users_share_no_helper_and_there_are_as_many_as_jobs_at_most)
{
	enum { MOST = 4 };
	pid_t helper = 0;

	sym_server_free(server);
	server = sym_server_new(
		&(struct sym_server_options){ .max_jobs = MOST, .fair = true });
	cr_assert_not_null(server);
	for (uid_t uid = 1; uid <= 2 * MOST; uid++) {
		size_t nr = uid < MOST ? uid : MOST;

		load_as(uid);
		load_as(uid);
		cr_expect_eq(find_helpers(&helper), nr, "user %u", uid);
	}
	load_as(1);
	cr_expect_eq(find_helpers(&helper), MOST);
}

Test(server, a_helper_ends_with_its_server)
{
	pid_t helper;

	sym_table_put(load(&self));
	helper = find_helper();
	sym_server_free(server);
	server = NULL;
	cr_expect_eq(kill(helper, 0), -1);
	cr_expect_eq(errno, ESRCH);
}

Test(server, a_program_that_is_no_helper_is_an_error_not_a_hang)
{
	struct sym_server_options opts = { .program = "/bin/true", .blocked_ms = 500 };
	struct sym_server *s = sym_server_new(&opts);
	struct sym_table *t = NULL;

	cr_assert_not_null(s);
	if (!sym_server_load(s, &self, NULL, &t, NULL)) {
		cr_expect_eq(t->state, SYM_BROKEN);
		cr_expect(strstr(t->reason, ": cannot be read"), "%s", t->reason);
	}
	sym_table_put(t);
	sym_server_free(s);
}

Test(server, a_helper_that_cannot_be_started_is_named)
{
	struct sym_server_options opts = { .program = "/nonexistent/helper" };
	struct sym_server *s = sym_server_new(&opts);
	struct sym_table *t = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_server_load(s, &self, NULL, &t, &err), -ENOENT);
	cr_expect(strstr(err.msg, "/nonexistent/helper"), "%s", err.msg);
	sym_server_free(s);
}

Test(server, a_cancelled_job_returns_at_once)
{
	atomic_bool cancel = true;
	struct sym_table *t = NULL;

	cr_expect_eq(sym_server_load(server, &self, &cancel, &t, NULL), -EINTR);
	cr_expect_null(t);
	sym_table_put(load(&self)); /* and the server goes on */
}

static void *load_many(void *arg)
{
	uintptr_t wrong = 0;

	(void)arg;
	for (int i = 0; i < 10; i++) {
		struct sym_job job = { .path = i % 2 ? exe : "/nonexistent" };
		struct sym_table *t = NULL;
		int rc = sym_server_load(server, &job, NULL, &t, NULL);

		wrong += rc || (i % 2 ? !t->nr_syms : t->state != SYM_MISSING);
		sym_table_put(t);
	}
	return (void *)wrong;
}

Test(server, threads_share_it)
{
	pthread_t threads[8];

	for (int i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, load_many, NULL), 0);
	for (int i = 0; i < 8; i++) {
		void *wrong = NULL;

		pthread_join(threads[i], &wrong);
		cr_expect_eq(wrong, NULL);
	}
}

Test(server, leaves_no_descriptor_behind)
{
	int before, after;

	sym_table_put(load(&self)); /* starts the helper */
	before = dup(0);
	close(before);
	for (int i = 0; i < 20; i++)
		sym_table_put(load(&self));
	after = dup(0);
	close(after);
	cr_expect_eq(before, after);
}

Test(server, many_names_are_demangled_at_once)
{
	enum { NR = 20000 };
	CLEANUP(free_ptr) const char **raw = calloc(NR, sizeof(*raw));
	CLEANUP(free_ptr) struct sym_names *names = NULL;
	struct err err = { 0 };

	cr_assert_not_null(raw);
	for (int i = 0; i < NR; i++)
		raw[i] = i % 3 == 0 ? "_ZN3geo3BoxIlE4growEl" : i % 3 == 1 ? "main" : "";
	cr_assert_eq(sym_server_demangle(server, raw, NR, SYM_DEMANGLE_NORMAL, NULL,
					 &names, &err),
		     0, "%s", err.msg);
	cr_assert_eq(names->nr, NR);
	cr_expect_str_eq(names->name[0], "geo::Box<long>::grow(long)");
	cr_expect_str_eq(names->name[19996], "main");
	cr_expect_str_eq(names->name[2], "");
}

Test(server, no_names_and_no_style_need_no_helper)
{
	struct sym_server_options opts = { .program = "/nonexistent" };
	struct sym_server *s = sym_server_new(&opts);
	const char *raw[] = { "_Z1fv", "" };
	CLEANUP(free_ptr) struct sym_names *a = NULL;
	CLEANUP(free_ptr) struct sym_names *b = NULL;

	cr_assert_eq(sym_server_demangle(s, raw, 2, SYM_DEMANGLE_NONE, NULL, &a, NULL),
		     0);
	cr_assert_eq(a->nr, 2);
	cr_expect_str_eq(a->name[0], "_Z1fv");
	cr_assert_eq(sym_server_demangle(s, NULL, 0, SYM_DEMANGLE_SMART, NULL, &b, NULL),
		     0);
	cr_expect_eq(b->nr, 0);
	sym_server_free(s);
}
