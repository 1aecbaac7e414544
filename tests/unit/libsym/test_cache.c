/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "libsym/cache.h"

static struct sym_server *server;
static struct sym_cache *cache;
static char dir[] = "/tmp/opfs-cache.XXXXXX";
static char path[64];

/* A copy of this program: an image that a test may change. */
static void copy_self(void)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	cr_assert_eq(file_slurp(AT_FDCWD, "/proc/self/exe", 256u << 20, &text, NULL), 0);
	cr_assert_eq(file_replace(AT_FDCWD, path, text.data, text.len, 0755, 0, NULL), 0);
}

static void start(void)
{
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/image", dir);
	copy_self();
	server = sym_server_new(NULL);
	cache = sym_cache_new(server, 64u << 20);
	cr_assert(server && cache);
}

static void stop(void)
{
	sym_cache_free(cache);
	sym_server_free(server);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(cache, .init = start, .fini = stop, .timeout = 1000);

static struct sym_table *load(const struct sym_job *job)
{
	struct sym_table *t = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_cache_load(cache, job, NULL, &t, &err), 0, "%s", err.msg);
	return t;
}

static struct sym_cache_stats stats(void)
{
	struct sym_cache_stats s;

	sym_cache_stats(cache, &s);
	return s;
}

Test(cache, the_second_time_gives_the_same_table)
{
	struct sym_job job = { .path = path };
	struct sym_table *a = load(&job), *b = load(&job);

	cr_expect_eq(a, b);
	cr_expect_eq(stats().misses, 1);
	cr_expect_eq(stats().hits, 1);
	sym_table_put(a);
	sym_table_put(b);
}

/* A path into /proc is one that openat2() never finds in memory. */
Test(cache, names_of_the_running_kernel_are_read_once)
{
	struct sym_job job = { .kind = SYM_KALLSYMS, .path = "/proc/kallsyms" };
	struct sym_table *a = load(&job), *b = load(&job);

	if (a->nr_syms)
		cr_expect_eq(a, b);
	else
		cr_log_info("this user sees no names of the kernel");
	sym_table_put(a);
	sym_table_put(b);
}

Test(cache, a_file_that_changed_is_read_again)
{
	struct sym_job job = { .path = path };
	struct sym_table *a = load(&job), *b;

	cr_assert_eq(truncate(path, 0), 0);
	b = load(&job);
	cr_expect_eq(b->state, SYM_NOT_ELF);
	cr_expect(a->nr_syms > 0, "the old table lives on");
	sym_table_put(a);
	sym_table_put(b);
	cr_expect_eq(stats().misses, 2);
	cr_expect_eq(stats().entries, 1);
}

Test(cache, nothing_is_shown_to_another_user)
{
	struct sym_cred me = { .uid = getuid(), .gid = getgid() };
	struct sym_cred other = { .uid = 65534, .gid = 65534 };
	struct sym_job mine = { .path = path, .cred = &me };
	struct sym_job its = { .path = path, .cred = &other };
	struct sym_table *a, *b;

	cr_assert_eq(chmod(path, 0711), 0); /* the directory is 0700 as well */
	a = load(&mine);
	b = load(&its);
	cr_expect(a->nr_syms > 0);
	cr_expect_eq(b->state, SYM_UNREADABLE, "%s", b->reason);
	cr_expect_eq(b->nr_syms, 0);
	sym_table_put(a);
	sym_table_put(b);
}

Test(cache, different_expectations_are_different_tables)
{
	struct sym_job plain = { .path = path };
	struct sym_job strict = { .path = path, .mtime = 1 };
	struct sym_table *a = load(&plain), *b = load(&strict);

	cr_expect_eq(a->state, SYM_UNCHECKED);
	cr_expect_eq(b->state, SYM_CHANGED);
	sym_table_put(a);
	sym_table_put(b);
}

Test(cache, is_bounded_by_bytes)
{
	struct sym_cache *small = sym_cache_new(server, 4096);
	struct sym_job job = { .path = path };
	struct sym_cache_stats s;
	struct sym_table *t = NULL;

	cr_assert_eq(sym_cache_load(small, &job, NULL, &t, NULL), 0);
	cr_assert(t->bytes > 4096);
	sym_cache_stats(small, &s);
	cr_expect(s.bytes <= 4096);
	cr_expect_eq(s.evicted, 1);
	cr_expect_not_null(sym_find(t, t->syms[0].off), "what is in use lives on");
	sym_table_put(t);
	sym_cache_free(small);
}

Test(cache, a_cancelled_load_leaves_nothing_behind)
{
	atomic_bool cancel = true;
	struct sym_job job = { .path = path };
	struct sym_table *t = NULL;

	cr_expect_eq(sym_cache_load(cache, &job, &cancel, &t, NULL), -EINTR);
	cr_expect_eq(stats().entries, 0);
	cr_expect_eq(stats().bytes, 0);
	sym_table_put(load(&job));
}

static void *load_once(void *arg)
{
	struct sym_job job = { .path = path };

	(void)arg;
	return load(&job);
}

Test(cache, threads_that_want_the_same_load_it_once)
{
	pthread_t threads[8];
	void *tables[8];

	for (int i = 0; i < 8; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, load_once, NULL), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], &tables[i]);
	for (int i = 0; i < 8; i++) {
		cr_expect_eq(tables[i], tables[0]);
		sym_table_put(tables[i]);
	}
	cr_expect_eq(stats().misses, 1);
	cr_expect_eq(stats().hits, 7);
}

static struct sym_lines *lines_of(const struct sym_job *job, const struct sym_range *r,
				  size_t nr, unsigned flags)
{
	struct sym_lines *l = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_cache_lines(cache, job, r, nr, flags, NULL, &l, &err), 0, "%s",
		     err.msg);
	return l;
}

Test(cache, lines_are_kept_for_what_was_asked_and_for_whom)
{
	struct sym_cred me = { .uid = getuid(), .gid = getgid() };
	struct sym_job job = { .path = path }, mine = { .path = path, .cred = &me };
	struct sym_range all = { 0, UINT64_MAX }, less = { 0, 1 << 20 };
	struct sym_table *t = load(&job);
	struct sym_lines *a = lines_of(&job, &all, 1, 0), *b[] = {
		lines_of(&job, &all, 1, 0),
		lines_of(&job, &less, 1, 0),
		lines_of(&job, &all, 1, SYM_LINES_INLINES),
		lines_of(&mine, &all, 1, 0),
		NULL,
	};

	cr_expect(a->nr_rows > 1000 && stats().bytes > a->bytes);
	cr_expect_eq(a, b[0]);
	cr_expect_neq(a, b[1]);
	cr_expect_neq(a, b[2]);
	cr_expect_neq(a, b[3]);
	cr_expect_eq(stats().hits, 1);
	cr_expect_eq(stats().misses, 5);
	copy_self();
	b[4] = lines_of(&job, &all, 1, 0);
	cr_expect_neq(a, b[4], "the file is another one now");
	sym_lines_put(a);
	for (size_t i = 0; i < 5; i++)
		sym_lines_put(b[i]);
	sym_table_put(t);
}
