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
#include "libsym/server/cache.h"

static struct sym_server *server;
static struct cache *cache;
static struct sym_cache *syms;
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
	cache = cache_new(64u << 20);
	cr_assert(server && cache);
	syms = sym_cache_new(server, cache);
	cr_assert(syms);
}

static void stop(void)
{
	cache_free(cache);
	sym_cache_free(syms);
	sym_server_free(server);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(cache, .init = start, .fini = stop, .timeout = 1000);

static struct sym_table *load(const struct sym_job *job)
{
	struct sym_table *t = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_cache_load(syms, job, NULL, &t, &err), 0, "%s", err.msg);
	return t;
}

static struct cache_stats stats(void)
{
	struct cache_stats s;

	cache_stats(cache, &s);
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
	struct cred me = { .uid = getuid(), .gid = getgid() };
	struct cred other = { .uid = 65534, .gid = 65534 };
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
	struct cache *small = cache_new(4096);
	struct sym_cache *few = sym_cache_new(server, small);
	struct sym_job job = { .path = path }, other = { .path = path, .name = "other" };
	struct cache_stats s;
	struct sym_table *t = NULL, *next = NULL;

	cr_assert_eq(sym_cache_load(few, &job, NULL, &t, NULL), 0);
	cr_assert(t->bytes > 4096);
	cr_assert_eq(sym_cache_load(few, &other, NULL, &next, NULL), 0);
	cache_stats(small, &s);
	cr_expect(s.bytes <= 4096);
	cr_expect_eq(s.evicted, 1);
	cr_expect_not_null(sym_find(t, t->syms[0].off), "what is in use lives on");
	sym_table_put(t);
	sym_table_put(next);
	cache_free(small);
	sym_cache_free(few);
}

Test(cache, a_cancelled_load_leaves_nothing_behind)
{
	atomic_bool cancel = true;
	struct sym_job job = { .path = path };
	struct sym_table *t = NULL;

	cr_expect_eq(sym_cache_load(syms, &job, &cancel, &t, NULL), -EINTR);
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
