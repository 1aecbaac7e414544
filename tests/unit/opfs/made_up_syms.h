/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_MADE_UP_SYMS_H
#define TESTS_UNIT_OPFS_MADE_UP_SYMS_H

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libsym/file/find.h"
#include "libsym/server/cache.h"
#include "tests/unit/opfs/named.h"
#include "tests/unit/opfs/fake.h"
#include "tests/unit/libsym/index_new.h"

/* What stands in for helper processes: symbol tables by path, made here.  And what each
 * test of a program with them begins with.  For one test program each, since it defines
 * functions of libsym. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int loads;
static struct sym_job last_job;
static int load_result;

static struct sym demo_syms[] = {
	{ .off = 0x100, .size = 0x10, .vma = 0x1100 },
	{ .off = 0x110, .size = 0x10, .vma = 0x1110 },
	{ .off = 0x200, .size = 0x20, .vma = 0x1200 },
};
NAMED(demo_syms, "first", "_Zsecond", "third");

static struct sym_table demo_table = {
	.state = SYM_OK,
	.source = SYM_FROM_SYMTAB,
	.reason = "",
	.path = "/bin/demo",
	.debug_path = "",
	.syms = demo_syms,
	.nr_syms = 3,
	.refs = 1000000,
};
static struct sym_table kernel_table = {
	.state = SYM_UNCHECKED,
	.source = SYM_FROM_KALLSYMS,
	.reason = "not compared",
	.path = "/boot/vmlinux",
	.debug_path = "",
	.syms = demo_syms,
	.nr_syms = 3,
	.text_off = 0x100,
	.refs = 1000000,
};
static struct sym plt_syms[] = {
	{ .off = 0x20, .size = 0x10, .vma = 0x20, .flags = SYM_PLT },
};
NAMED(plt_syms, "exit@plt");
static struct sym_table stripped_table = {
	.state = SYM_NO_SYMBOLS,
	.source = SYM_FROM_NOTHING,
	.reason = "/bin/stripped: stripped",
	.path = "/bin/stripped",
	.debug_path = "",
	.build_id = { 2, { 0xab, 0xcd } },
	.syms = plt_syms,
	.nr_syms = 1,
	.refs = 1000000,
};
static struct sym_table missing_table = {
	.state = SYM_MISSING,
	.reason = "/bin/gone: no such file",
	.path = "",
	.debug_path = "",
	.refs = 1000000,
};
static struct sym_table empty_table = {
	.state = SYM_OK,
	.reason = "",
	.path = "/bin/empty",
	.debug_path = "",
	.refs = 1000000,
};

int sym_cache_load(struct sym_cache *c, const struct sym_job *job,
		   const atomic_bool *cancel, struct sym_table **out, struct err *err)
{
	struct sym_table *t = &missing_table;

	(void)c;
	(void)cancel;
	pthread_mutex_lock(&lock);
	loads++;
	last_job = *job;
	pthread_mutex_unlock(&lock);
	if (load_result)
		return err_set(err, load_result, "helpers cannot be started");
	if (job->kind == SYM_VMLINUX)
		t = &kernel_table;
	else if (job->path && !strcmp(job->path, "/bin/demo"))
		t = &demo_table;
	else if (job->path && !strcmp(job->path, "/bin/empty"))
		t = &empty_table;
	else if (job->path && !strcmp(job->path, "/bin/stripped"))
		t = &stripped_table;
	*out = sym_table_get(t);
	return 0;
}

struct sym_server *sym_cache_server(struct sym_cache *c)
{
	(void)c;
	return NULL;
}

int sym_server_demangle(struct sym_server *s, const char *const *names, size_t nr,
			enum sym_demangle_style style, const struct viewer *v,
			struct sym_names **out, struct err *err)
{
	struct sym_names *n = calloc(1, sizeof(*n) + nr * sizeof(char *));

	(void)s;
	(void)style;
	(void)v;
	(void)err;
	cr_assert_not_null(n);
	n->nr = nr;
	for (size_t i = 0; i < nr; i++)
		n->name[i] = strcmp(names[i], "_Zsecond") ? names[i] : "second()";
	*out = n;
	return 0;
}

int sym_server_find(struct sym_server *s, const struct sym_wanted *w,
		    const struct cred *cred, const atomic_bool *cancel,
		    struct sym_found **out, struct err *err)
{
	(void)s;
	(void)w;
	(void)cred;
	(void)cancel;
	(void)err;
	*out = calloc(1, sizeof(**out));
	cr_assert_not_null(*out);
	return 0;
}

static void make_tables(void)
{
	demo_table.index = index_new(demo_syms, 3);
	kernel_table.index = index_new(demo_syms, 3);
	stripped_table.index = index_new(plt_syms, 1);
}

static void free_tables(void)
{
	free((void *)demo_table.index);
	free((void *)kernel_table.index);
	free((void *)stripped_table.index);
}

static struct sym_cache *const some_cache = (struct sym_cache *)&demo_table;

/* ---- what each test begins with */

static const struct fake_event cycles = { "CYCLES", 1000, 0, 41 };
static const struct fake_event misses = { "MISSES", 50, 1, 41 };

static struct fake f;
static struct profile *p;

static void setup(void)
{
	make_tables();
	fake_init(&f);
}

static void teardown(void)
{
	profile_put(p);
	fake_fini(&f);
	free_tables();
}

/* Loads all files of f with those tables, and for the rest as @how says. */
static int load_all(const struct profile_query *how, struct profile **out,
		    struct err *err)
{
	struct profile_query q = *how;
	uint32_t all[512];

	for (uint32_t i = 0; i < f.cat.nr_files; i++)
		all[i] = i;
	q.cat = &f.cat;
	q.selected = all;
	q.nr_selected = f.cat.nr_files;
	q.demangle = SYM_DEMANGLE_NORMAL;
	q.syms = some_cache;
	return profile_load(&q, out, err);
}

#endif
