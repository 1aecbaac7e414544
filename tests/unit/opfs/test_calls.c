/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/calls.h"

#include <criterion/criterion.h>

#include "tests/unit/opfs/fake.h"

static const struct fake_event cycles = { "CPU_CLK_UNHALTED", 100000, 0, 41 };

enum { MAIN, RECURSE, LIB, NR_ROWS };

static struct profile *profile_with_arcs(struct fake *f)
{
	static uint64_t counts[] = { 12, 25, 60, 7 };
	static struct profile_arc arcs[] = {
		{ MAIN, RECURSE, &counts[0] },
		{ MAIN, LIB, &counts[3] },
		{ RECURSE, RECURSE, &counts[1] },
		{ RECURSE, LIB, &counts[2] },
	};
	struct profile *p;

	fake_init(f);
	fake_file(f, "/a", "/a", &cycles, 0);
	fake_file(f, "/a2", "/a2", &cycles, 40);
	fake_file(f, "/a", "/lib", &cycles, 7);
	p = fake_load(f, PROFILE_SYMBOLS);
	p->rows = arena_calloc(&p->arena, NR_ROWS, sizeof(*p->rows));
	p->nr_rows = NR_ROWS;
	p->rows[MAIN] = (struct profile_row){ .name = "main", .samples = &counts[3] };
	p->rows[RECURSE] = (struct profile_row){ .name = "r", .samples = &counts[1] };
	p->rows[LIB] = (struct profile_row){ .name = "lib",
					     .image = fake_image(f, "/lib"),
					     .samples = &counts[3] };
	p->arcs = arcs;
	p->nr_arcs = 4;
	return p;
}

static void expect(struct call_list got, size_t nr, const char *const *names,
		   const uint64_t *counts)
{
	cr_assert_eq(got.nr, nr, "%zu", got.nr);
	for (size_t i = 0; i < nr; i++) {
		cr_expect_str_eq(got.calls[i].row->name, names[i]);
		cr_expect_eq(got.calls[i].samples[0], counts[i]);
	}
}

Test(calls, callers_ascend_and_callees_descend_with_self_among_them)
{
	struct fake f;
	struct profile *p = profile_with_arcs(&f);
	const struct view view = { .p = p };
	struct calls c;
	struct call_list list;

	cr_assert_eq(calls_init(&c, &view), 0);
	expect(calls_callers(&c, &p->rows[RECURSE]), 2, (const char *[]){ "main", "r" },
	       (uint64_t[]){ 12, 25 });
	list = calls_callees(&c, &p->rows[RECURSE]);
	expect(list, 3, (const char *[]){ "lib", "r", "r" }, (uint64_t[]){ 60, 25, 25 });
	cr_expect(list.calls[1].self && !list.calls[2].self);
	expect(calls_callers(&c, &p->rows[MAIN]), 0, NULL, NULL);
	expect(calls_callers(&c, &p->rows[LIB]), 2, (const char *[]){ "main", "r" },
	       (uint64_t[]){ 7, 60 });
	calls_fini(&c);
	profile_put(p);
	fake_fini(&f);
}

Test(calls, leave_out_what_the_view_excludes)
{
	struct fake f;
	struct profile *p = profile_with_arcs(&f);
	const struct view view = { .p = p, .options = { .exclude_dependent = true } };
	struct calls c;

	cr_assert_eq(calls_init(&c, &view), 0);
	expect(calls_callees(&c, &p->rows[MAIN]), 2, (const char *[]){ "r", "main" },
	       (uint64_t[]){ 12, 7 });
	calls_fini(&c);
	profile_put(p);
	fake_fini(&f);
}
