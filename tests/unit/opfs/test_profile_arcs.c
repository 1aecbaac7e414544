/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/arcs.h"
#include "opfs/profile/filter.h"
#include "opfs/profile/profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>

#include "tests/unit/opfs/fake.h"
#include "tests/unit/opfs/made_up_syms.h"

/* demo: first 0x100..0x10f, second() 0x110..0x11f, third 0x200..0x21f; the kernel has
 * the same, counted from 0x100; no other image has symbols. */

static struct profile *load(unsigned needs, bool merge_lib)
{
	struct profile_query q = { .needs = needs, .merge_lib = merge_lib };
	struct profile *loaded = NULL;
	struct err err = { 0 };

	cr_assert_eq(load_all(&q, &loaded, &err), 0, "%s", err.msg);
	return loaded;
}

static uint32_t flat(const char *app, const char *image, const struct fake_event *e,
		     uint64_t key, uint32_t value)
{
	const struct spec_sample_node node = { .key = key, .value = value };

	return fake_sample_file(&f, app, image, e, &node, 1);
}

static uint32_t arcs(const char *caller, const char *callee,
		     const struct spec_sample_node *nodes, uint32_t nr)
{
	uint32_t at = fake_sample_file(&f, "/bin/demo", caller, &cycles, nodes, nr);

	f.cat.files[at].callee = fake_image(&f, callee);
	return at;
}

static uint64_t key(uint32_t from, uint32_t to)
{
	return (uint64_t)from << 32 | to;
}

static const struct profile_row *row_of(const char *image, const char *name)
{
	for (size_t r = 0; r < p->nr_rows; r++)
		if (!strcmp(p->cat->images[p->rows[r].image].shown, image) &&
		    !strcmp(p->rows[r].name, name))
			return &p->rows[r];
	return NULL;
}

static uint64_t arc_of(const char *caller_image, const char *caller,
		       const char *callee_image, const char *callee)
{
	const struct profile_row *from = row_of(caller_image, caller);
	const struct profile_row *to = row_of(callee_image, callee);

	for (size_t i = 0; i < p->nr_arcs; i++)
		if (&p->rows[p->arcs[i].caller] == from &&
		    &p->rows[p->arcs[i].callee] == to)
			return p->arcs[i].samples[0];
	return 0;
}

/* What everybody may rely on. */
static void expect_order(void)
{
	for (size_t i = 1; i < p->nr_rows; i++) {
		const struct profile_row *a = &p->rows[i - 1], *b = &p->rows[i];

		cr_expect(a->image < b->image ||
			  (a->image == b->image && a->app <= b->app));
	}
	for (size_t i = 1; i < p->nr_arcs; i++) {
		const struct profile_arc *a = &p->arcs[i - 1], *b = &p->arcs[i];

		cr_expect(a->caller < b->caller ||
			  (a->caller == b->caller && a->callee < b->callee));
	}
	for (size_t i = 0; i < p->nr_arcs; i++) {
		cr_expect_lt(p->arcs[i].caller, p->nr_rows);
		cr_expect_lt(p->arcs[i].callee, p->nr_rows);
	}
}

/* ---- hits */

TestSuite(profile_arcs, .init = setup, .fini = teardown);

Test(profile_arcs, hits_are_sums_by_offset_and_event)
{
	static const struct spec_sample_node one[] = {
		{ .key = 0x11f, .value = 1 }, { .key = 0x110, .value = 2 },
		{ .key = 0x500, .value = 4 }, { .key = 0x110, .value = 8 },
		{ .key = 0x10, .value = 16 }, { .key = 0x112, .value = 0 },
	};
	static const struct spec_sample_node two[] = { { .key = 0x11f, .value = 32 },
						       { .key = 0x118, .value = 64 } };
	const struct profile_row *row;

	fake_sample_file(&f, "/bin/demo", "/bin/demo", &cycles, one, 6);
	fake_sample_file(&f, "/bin/demo", "/bin/demo", &misses, two, 2);
	p = load(PROFILE_HITS, false);
	row = row_of("/bin/demo", "second()");
	cr_assert_not_null(row);
	cr_assert_eq(row->nr_hits, 3);
	cr_expect_eq(row->hits[0], 0x110);
	cr_expect_eq(row->hits[1], 0x118);
	cr_expect_eq(row->hits[2], 0x11f);
	cr_expect_eq(profile_hit_samples(row, 0, 2)[0], 10);
	cr_expect_eq(profile_hit_samples(row, 0, 2)[1], 0);
	cr_expect_eq(profile_hit_samples(row, 1, 2)[0], 0);
	cr_expect_eq(profile_hit_samples(row, 1, 2)[1], 64);
	cr_expect_eq(profile_hit_samples(row, 2, 2)[0], 1);
	cr_expect_eq(profile_hit_samples(row, 2, 2)[1], 32);
	cr_expect_eq(profile_hit_vma(p, row, 2), 0x111f);
	row = row_of("/bin/demo", "(no symbol)");
	cr_assert_not_null(row);
	cr_assert_eq(row->nr_hits, 2, "before and behind the symbols");
	cr_expect_eq(row->hits[0], 0x10);
	cr_expect_eq(row->hits[1], 0x500);
	cr_expect_eq(row->samples[0], 20);
}

Test(profile_arcs, an_image_shown_as_itself_has_its_keys)
{
	static const struct spec_sample_node nodes[] = {
		{ .key = UINT64_MAX - 1, .value = 1 }, { .key = 7, .value = 2 }
	};
	const struct profile_row *row;

	fake_sample_file(&f, "/bin/demo", "/no-vmlinux", &cycles, nodes, 2);
	p = load(PROFILE_HITS, false);
	row = row_of("/no-vmlinux", "/no-vmlinux");
	cr_assert_not_null(row);
	cr_expect_eq(row->samples[0], 3);
	cr_assert_eq(row->nr_hits, 2);
	cr_expect_eq(row->hits[0], 7);
	cr_expect_eq(row->hits[1], UINT64_MAX - 1);
	cr_expect_eq(profile_hit_vma(p, row, 1), UINT64_MAX - 1);
}

/* 20,000 nodes with all sizes of offsets, against counting them one by one. */
Test(profile_arcs, many_hits_in_any_order_are_sorted_and_none_is_lost)
{
	enum { NR = 20000 };
	static struct spec_sample_node nodes[NR];
	uint64_t seed = 1, sum = 0, want = 0;

	for (int i = 0; i < NR; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		nodes[i].key = seed >> (8 + seed % 50);
		nodes[i].value = (uint32_t)(seed >> 60);
		want += nodes[i].value;
	}
	fake_sample_file(&f, "/bin/demo", "/bin/demo", &cycles, nodes, NR);
	p = load(PROFILE_HITS, false);
	for (size_t r = 0; r < p->nr_rows; r++) {
		const struct profile_row *row = &p->rows[r];

		for (size_t i = 0; i < row->nr_hits; i++) {
			cr_assert(!i || row->hits[i] > row->hits[i - 1]);
			sum += profile_hit_samples(row, i, 1)[0];
		}
	}
	cr_expect_eq(sum, want);
	cr_expect_eq(p->classes[0].total, want);
}

/* ---- arcs */

Test(profile_arcs, arcs_are_summed_by_symbol)
{
	const struct spec_sample_node nodes[] = {
		{ .key = key(0x105, 0x110), .value = 3 },
		{ .key = key(0x10a, 0x118), .value = 4 }, /* the same two */
		{ .key = key(0x110, 0x110), .value = 5 }, /* recursion */
		{ .key = key(0x118, 0x200), .value = 0 },
	};

	flat("/bin/demo", "/bin/demo", &cycles, 0x110, 9);
	arcs("/bin/demo", "/bin/demo", nodes, 4);
	p = load(PROFILE_ARCS, false);
	cr_expect_eq(loads, 1, "both ends in one image: loaded %d times", loads);
	cr_assert_eq(p->nr_arcs, 2);
	cr_expect_eq(arc_of("/bin/demo", "first", "/bin/demo", "second()"), 7);
	cr_expect_eq(arc_of("/bin/demo", "second()", "/bin/demo", "second()"), 5);
	cr_expect_eq(row_of("/bin/demo", "first")->samples[0], 0, "never sampled itself");
	cr_expect_eq(row_of("/bin/demo", "second()")->samples[0], 9);
	cr_expect_eq(p->classes[0].total, 9, "arcs are no samples");
	cr_expect_eq(p->nr_selected, 1);
	expect_order();
}

Test(profile_arcs, ends_without_symbols_are_rows_too)
{
	const struct spec_sample_node from_anon[] = {
		{ .key = key(0x40, 0x200), .value = 2 },
	};
	const struct spec_sample_node into_kernel[] = {
		{ .key = key(0x600, 0), .value = 3 }, /* outside symbols, to .text + 0 */
	};
	const struct spec_sample_node in_kernel[] = {
		{ .key = key(0, 0x10), .value = 4 }, /* OProfile drops this caller */
	};
	const char *anon = "anon (tgid:1 range:0x1000-0x1fff)";
	uint32_t at;

	flat("/bin/demo", "/bin/demo", &cycles, 0x200, 9);
	arcs(anon, "/bin/demo", from_anon, 1);
	at = arcs("/bin/demo", "/boot/vmlinux", into_kernel, 1);
	f.cat.files[at].header.cg_to_is_kernel = 1;
	at = arcs("/boot/vmlinux", "/boot/vmlinux", in_kernel, 1);
	f.cat.files[at].header.is_kernel = f.cat.files[at].header.cg_to_is_kernel = 1;
	p = load(PROFILE_ARCS, false);
	cr_expect_eq(arc_of(anon, anon, "/bin/demo", "third"), 2);
	cr_expect_eq(arc_of("/bin/demo", "(no symbol)", "/boot/vmlinux", "first"), 3);
	cr_expect_eq(arc_of("/boot/vmlinux", "first", "/boot/vmlinux", "second()"), 4);
	cr_expect_eq(p->nr_arcs, 3);
	cr_expect(p->images[fake_image(&f, "/boot/vmlinux")].used);
	expect_order();
}

static const struct profile_row *only_anonymous(void)
{
	const struct profile_row *found = NULL;

	for (size_t i = 0; i < p->nr_rows; i++) {
		if (p->cat->images[p->rows[i].image].name.kind != SPEC_IMAGE_ANON)
			continue;
		cr_expect_null(found, "two rows for one memory");
		found = &p->rows[i];
	}
	return found;
}

static void set_range(const char *shown, uint32_t tgid)
{
	struct spec_image *name = &f.cat.images[fake_image(&f, shown)].name;

	name->tgid = tgid;
	name->start = 0x1000;
	name->end = 0x1fff;
}

Test(profile_arcs, memory_that_arcs_call_anon_is_the_one_that_was_sampled)
{
	const struct spec_sample_node nodes[] = { { .key = key(0x100, 0x20),
						    .value = 2 } };
	const char *vdso = "[vdso] (tgid:1 range:0x1000-0x1fff)";
	const char *anon = "anon (tgid:1 range:0x1000-0x1fff)";
	const struct profile_row *row;

	flat("/bin/demo", vdso, &cycles, 0x20, 9);
	arcs("/bin/demo", anon, nodes, 1);
	set_range(vdso, 1);
	set_range(anon, 1);
	p = load(PROFILE_ARCS, false);
	row = only_anonymous();
	cr_assert_not_null(row);
	cr_expect_str_eq(row->name, vdso);
	cr_expect_eq(arc_of("/bin/demo", "first", vdso, vdso), 2);
}

Test(profile_arcs, merged_libraries_keep_the_arcs_that_lead_into_them)
{
	const struct spec_sample_node nodes[] = { { .key = key(0x100, 0x20),
						    .value = 2 } };
	const struct profile_row *row;

	flat("/bin/demo", "/lib/x.so", &cycles, 0x20, 9);
	flat("/bin/other", "/lib/x.so", &cycles, 0x20, 1);
	arcs("/bin/demo", "/lib/x.so", nodes, 1);
	p = load(PROFILE_ARCS, true);
	row = row_of("/lib/x.so", "/lib/x.so");
	cr_assert_not_null(row);
	cr_expect_eq(row->app, row->image);
	cr_expect_eq(row->samples[0], 10);
	cr_expect_eq(arc_of("/bin/demo", "first", "/lib/x.so", "/lib/x.so"), 2);
}

Test(profile_arcs, a_profile_without_arcs_does_not_read_them)
{
	const struct spec_sample_node nodes[] = { { .key = key(0x100, 0x20),
						    .value = 2 } };

	flat("/bin/demo", "/bin/demo", &cycles, 0x200, 9);
	arcs("/bin/demo", "/lib/x.so", nodes, 1);
	p = load(PROFILE_SYMBOLS, false);
	cr_expect_eq(loads, 1);
	cr_expect_eq(p->nr_arcs, 0);
	cr_expect_eq(p->nr_rows, 1);
}

Test(profile_arcs, a_file_of_arcs_that_went_bad_is_named)
{
	uint32_t at;

	flat("/bin/demo", "/bin/demo", &cycles, 0x200, 9);
	at = fake_file(&f, "/bin/demo", "/bin/demo", &cycles, 5);
	f.cat.files[at].callee = fake_image(&f, "/bin/demo");
	p = load(PROFILE_ARCS, false);
	cr_expect_eq(p->classes[0].total, 9);
	cr_expect_eq(p->nr_bad, 1);
}

/* ---- parts */

static bool is_third(void *ctx, const struct profile_row *row)
{
	(void)ctx;
	return !strcmp(row->name, "third");
}

Test(profile_arcs, a_part_keeps_its_callers_aside)
{
	const struct spec_sample_node nodes[] = {
		{ .key = key(0x100, 0x110), .value = 1 },
		{ .key = key(0x110, 0x200), .value = 2 },
		{ .key = key(0x200, 0x200), .value = 4 },
	};
	struct profile *full;
	struct err err = { 0 };

	flat("/bin/demo", "/bin/demo", &cycles, 0x200, 9);
	flat("/bin/demo", "/bin/demo", &cycles, 0x110, 1);
	arcs("/bin/demo", "/bin/demo", nodes, 3);
	full = load(PROFILE_ARCS | PROFILE_HITS, false);
	cr_assert_eq(profile_filter(full, is_third, NULL, &p, &err), 0);
	profile_put(full);
	cr_expect_eq(p->nr_rows, 2);
	cr_expect_eq(p->nr_arcs, 2);
	cr_expect_eq(p->classes[0].total, 9);
	cr_expect_eq(arc_of("/bin/demo", "second()", "/bin/demo", "third"), 2);
	cr_expect_eq(arc_of("/bin/demo", "third", "/bin/demo", "third"), 4);
	cr_expect(row_of("/bin/demo", "second()")->aside);
	cr_expect_eq(row_of("/bin/demo", "second()")->samples[0], 0);
	cr_expect_not(row_of("/bin/demo", "third")->aside);
	cr_expect_eq(row_of("/bin/demo", "third")->nr_hits, 1);
	expect_order();
}

/* ---- as the files have them */

struct seen {
	struct profile_raw_arc arcs[8];
	size_t nr, stop;
};

static int see(void *ctx, const struct profile_raw_arc *arc)
{
	struct seen *s = ctx;

	s->arcs[s->nr++] = *arc;
	return s->nr == s->stop ? -ECANCELED : 0;
}

Test(profile_arcs, raw_arcs_have_offsets_of_their_images)
{
	const struct spec_sample_node nodes[] = {
		{ .key = key(0x105, 0x10), .value = 3 },
		{ .key = key(0xffffffff, 0x18), .value = 4 },
	};
	struct seen s = { 0 };
	struct err err = { 0 };
	uint32_t at;

	flat("/bin/demo", "/bin/demo", &misses, 0x200, 9);
	at = arcs("/bin/demo", "/boot/vmlinux", nodes, 2);
	f.cat.files[at].header.cg_to_is_kernel = 1;
	p = load(PROFILE_ARCS, false);
	cr_assert_eq(profile_each_arc(p, NULL, see, &s, &err), 0);
	cr_assert_eq(s.nr, 2);
	cr_expect_eq(s.arcs[0].from, 0x105);
	cr_expect_eq(s.arcs[0].to, 0x110, "counted from .text");
	cr_expect_eq(s.arcs[0].value, 3);
	cr_expect_eq(s.arcs[0].app, fake_image(&f, "/bin/demo"));
	cr_expect_eq(s.arcs[0].caller, fake_image(&f, "/bin/demo"));
	cr_expect_eq(s.arcs[0].callee, fake_image(&f, "/boot/vmlinux"));
	cr_expect_str_eq(p->classes[s.arcs[0].class].event, "CYCLES");
	cr_expect_eq(s.arcs[1].from, 0xffffffff);
	s = (struct seen){ .stop = 1 };
	cr_expect_eq(profile_each_arc(p, NULL, see, &s, &err), -ECANCELED);
	cr_expect_eq(s.nr, 1);
}
