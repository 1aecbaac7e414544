/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <string.h>

#include "collector/store/route.h"

#define L COLL_SEPARATE_LIB
#define K COLL_SEPARATE_KERNEL
#define T COLL_SEPARATE_THREAD
#define C COLL_SEPARATE_CPU

static char prog[] = "/bin/prog", lib[] = "/lib/lib.so", kern[] = "no-vmlinux",
	    anon[] = "anon";

static struct coll_image images[] = {
	{ .name = { .kind = SPEC_IMAGE_ROOT, .name = prog } },
	{ .name = { .kind = SPEC_IMAGE_ROOT, .name = lib } },
	{ .name = { .kind = SPEC_IMAGE_KERN, .name = kern }, .is_kernel = true },
	{ .name = { .kind = SPEC_IMAGE_ANON, .name = anon } },
};

enum { PROG, LIB, KERN, ANON, NONE };

struct row {
	unsigned separate;
	int app, image, filed_under; /* NONE: no application; cannot be filed */
};

ParameterizedTestParameters(route, files_by_separate)
{
	static struct row rows[] = {
		{ 0, PROG, PROG, PROG },     { 0, PROG, LIB, LIB },
		{ 0, PROG, KERN, KERN },     { 0, PROG, ANON, PROG },
		{ L, PROG, LIB, PROG },      { L, PROG, KERN, KERN },
		{ L, PROG, ANON, PROG },     { L | K, PROG, KERN, PROG },
		{ L | K, PROG, LIB, PROG },  { 0, NONE, LIB, LIB },
		{ L, NONE, LIB, NONE },      { 0, NONE, ANON, NONE },
		{ L | K, NONE, KERN, KERN }, { L, NONE, KERN, KERN },
	};

	return cr_make_param_array(struct row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct row *row, route, files_by_separate)
{
	struct coll_context c = { .image = &images[row->image],
				  .kernel = images[row->image].is_kernel };
	struct coll_key key;
	bool ok;

	c.app = row->app == NONE ? NULL : &images[row->app];
	ok = coll_route(row->separate, &c, &key);
	cr_expect_eq(ok, row->filed_under != NONE);
	if (ok && row->filed_under != NONE)
		cr_expect_eq(key.app, &images[row->filed_under]);
}

Test(route, keeps_threads_and_cpus_apart_only_if_asked)
{
	struct coll_context c = { .image = &images[PROG],
				  .app = &images[PROG],
				  .tgid = 7,
				  .tid = 8,
				  .cpu = 1,
				  .event = 3 };
	struct coll_key key;

	cr_assert(coll_route(L, &c, &key));
	cr_expect(key.tgid == SPEC_ALL && key.tid == SPEC_ALL && key.cpu == SPEC_ALL);
	cr_expect_eq(key.event, 3);
	cr_assert(coll_route(L | T, &c, &key));
	cr_expect(key.tgid == 7 && key.tid == 8 && key.cpu == SPEC_ALL);
	cr_assert(coll_route(L | C, &c, &key));
	cr_expect(key.tgid == SPEC_ALL && key.tid == SPEC_ALL && key.cpu == 1);
}

Test(route, takes_dependents_along_with_a_wanted_program_and_not_the_other_way)
{
	struct coll_context in_lib = { .image = &images[LIB], .app = &images[PROG] };
	struct coll_context in_prog = { .image = &images[PROG], .app = &images[PROG] };
	struct coll_context in_kern = { .image = &images[KERN],
					.app = &images[PROG],
					.kernel = true };

	images[PROG].wanted = true;
	images[LIB].wanted = false;
	cr_expect(coll_route_wanted(L, &in_prog));
	cr_expect(coll_route_wanted(L, &in_lib));
	cr_expect_not(coll_route_wanted(0, &in_lib));
	cr_expect_not(coll_route_wanted(L, &in_kern));
	cr_expect(coll_route_wanted(L | K, &in_kern));
	images[PROG].wanted = false;
	images[LIB].wanted = true;
	cr_expect_not(coll_route_wanted(L, &in_prog));
	cr_expect(coll_route_wanted(L, &in_lib));
	cr_expect(coll_route_wanted(0, &in_lib));
}

Test(route, reads_separate_lists)
{
	static const struct {
		const char *list;
		unsigned sets;
	} rows[] = {
		{ "none", 0 },
		{ "lib", L },
		{ "library", L },
		{ "kernel", L | K },
		{ "thread", L | K | T },
		{ "cpu,thread", L | K | T | C },
		{ "lib,thread", L | T },
		{ "cpu,library", L | C },
		{ "none,thread", T },
		{ "thread,none", 0 },
		{ "kernel,none", 0 },
		{ "all", L | K | T | C },
		{ "none,lib,cpu", L | C },
	};
	struct err err = { 0 };
	unsigned set;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_assert_eq(coll_separate_parse(rows[i].list, &set, &err), 0);
		cr_expect_eq(set, rows[i].sets, "%s", rows[i].list);
	}
	set = 99;
	cr_expect_eq(coll_separate_parse("lib,tread", &set, &err), -EINVAL);
	cr_expect(strstr(err.msg, "\"tread\""), "%s", err.msg);
	cr_expect_eq(coll_separate_parse("", &set, &err), -EINVAL);
	cr_expect_eq(set, 99);
}
