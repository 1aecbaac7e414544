/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/asm.h"

#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "tests/unit/opfs/fake.h"
#include "tests/unit/opfs/named.h"

static struct sym both[] = {
	{ .off = 0x100, .size = 0x40, .vma = 0x1100 },
	{ .off = 0x200, .size = 0x10, .vma = 0x1200 },
};
NAMED(both, "hot", "cold");
#define hot both[0]
#define cold both[1]

struct world {
	struct fake fake;
	struct profile p;
	struct profile_row rows[4];
	uint64_t samples[4];
	struct profile_class class;
	struct view view;
	struct asm_units units;
	struct profile_image images[8];
};

static const uint64_t hits_outside[] = { 0x10, 0x400, 0x410, 0x500, 1, 1, 1, 1 };

/* hot is in two applications, cold in one, and there is something outside of both. */
static void make(struct world *w, double threshold)
{
	static const uint64_t samples[] = { 4, 5, 7, 4 };
	static const struct view_options plain;
	uint32_t app, other, lib;

	*w = (struct world){ 0 };
	fake_init(&w->fake);
	app = fake_image(&w->fake, "/bin/app");
	other = fake_image(&w->fake, "/bin/other");
	lib = fake_image(&w->fake, "/lib/lib.so");
	memcpy(w->samples, samples, sizeof(samples));
	w->rows[0] = (struct profile_row){ .app = app, .sym = &hot, .vma = 0x1100 };
	w->rows[1] = (struct profile_row){ .app = other, .sym = &hot, .vma = 0x1100 };
	w->rows[2] = (struct profile_row){ .app = app, .sym = &cold, .vma = 0x1200 };
	w->rows[3] = (struct profile_row){ .app = app,
					   .kind = PROFILE_ROW_NONE,
					   .hits = hits_outside,

					   .nr_hits = 4 };
	for (size_t i = 0; i < 4; i++) {
		w->rows[i].image = lib;
		w->rows[i].name =
			w->rows[i].sym ? sym_name(w->rows[i].sym) : "(no symbol)";
		w->rows[i].samples = &w->samples[i];
	}
	w->p = (struct profile){ .cat = &w->fake.cat,
				 .images = w->images,
				 .rows = w->rows,
				 .nr_rows = 4,
				 .classes = &w->class,
				 .nr_classes = 1 };
	cr_assert_eq(view_init(&w->view, &w->p, &plain), 0);
	cr_assert_eq(asm_units_make(&w->units, &w->view, threshold), 0);
}

static void done(struct world *w)
{
	asm_units_fini(&w->units);
	view_fini(&w->view);
	fake_fini(&w->fake);
}

static struct world w;

static void teardown(void)
{
	done(&w);
}

TestSuite(asm, .fini = teardown);

Test(asm, a_function_of_two_applications_is_one_and_the_most_sampled_is_first)
{
	make(&w, 0);
	cr_assert_eq(w.units.nr, 3);
	cr_expect_eq(w.units.units[0].rows[0]->sym, &hot);
	cr_expect_eq(w.units.units[0].nr_rows, 2);
	cr_expect_eq(w.units.units[0].samples[0], 9);
	cr_expect_eq(w.units.units[1].rows[0]->sym, &cold);
	cr_expect_null(w.units.units[2].rows[0]->sym);
}

Test(asm, the_threshold_asks_functions_not_their_rows)
{
	make(&w, 40); /* neither row of hot alone reaches it: 4 and 5 of 20 */
	cr_assert_eq(w.units.nr, 1);
	cr_expect_eq(w.units.units[0].rows[0]->sym, &hot);
}

Test(asm, a_function_is_shown_whole)
{
	make(&w, 0);
	cr_assert_eq(w.units.units[0].nr_ranges, 1);
	cr_expect_eq(w.units.units[0].ranges[0].off, 0x100);
	cr_expect_eq(w.units.units[0].ranges[0].end, 0x140);
}

Test(asm, outside_of_functions_pieces_begin_anew_at_their_first_sample)
{
	static const struct sym_range want[] = {
		{ 0, 0x10 },      { 0x10, 0x30 },   /* nothing before the file */
		{ 0x3e0, 0x400 }, { 0x400, 0x430 }, /* two that are close are one piece */
		{ 0x4e0, 0x500 }, { 0x500, 0x520 },
	};
	const struct asm_unit *u;

	make(&w, 0);
	u = &w.units.units[2];
	cr_assert_eq(u->nr_ranges, sizeof(want) / sizeof(want[0]));
	for (size_t i = 0; i < u->nr_ranges; i++) {
		cr_expect_eq(u->ranges[i].off, want[i].off, "range %zu", i);
		cr_expect_eq(u->ranges[i].end, want[i].end, "range %zu", i);
	}
}

Test(asm, without_helpers_there_is_no_code_and_a_reason)
{
	CLEANUP(asm_window_fini) struct asm_window window = { 0 };
	struct report_job job = { 0 };

	make(&w, 0);
	job.p = &w.p;
	cr_assert_eq(asm_window_next(&window, &w.units, &job, NULL), 1);
	cr_expect_eq(window.end, 3);
	cr_expect_str_eq(asm_reason(&w.units.units[0], &w.p),
			 "it was in memory only, which is not kept");
	cr_expect_eq(asm_window_next(&window, &w.units, &job, NULL), 0);
}
