/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/spec/class.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

static const struct spec_name cycles = { .event = (char *)"CYCLES",
					 .count = 1000,
					 .tgid = SPEC_ALL,
					 .tid = SPEC_ALL,
					 .cpu = SPEC_ALL };

static struct spec_name event(const char *name, uint64_t count, uint64_t mask)
{
	struct spec_name n = cycles;

	n.event = (char *)name;
	n.count = count;
	n.unit_mask = mask;
	return n;
}

static struct spec_name task(int64_t tgid, int64_t tid, int64_t cpu)
{
	struct spec_name n = cycles;

	n.tgid = tgid;
	n.tid = tid;
	n.cpu = cpu;
	return n;
}

static int classify(struct spec_classes *out, const struct spec_name *names, size_t nr,
		    struct spec_class_rules rules, size_t max, struct err *err)
{
	const struct spec_name *of[64];

	cr_assert_leq(nr, 64);
	for (size_t i = 0; i < nr; i++)
		of[i] = &names[i];
	return spec_classes_init(out, of, nr, &rules, max, err);
}

static void must(struct spec_classes *c, const struct spec_name *names, size_t nr,
		 struct spec_class_rules rules)
{
	struct err err = { 0 };

	cr_assert_eq(classify(c, names, nr, rules, 64, &err), 0, "%s", err.msg);
}

static struct spec_classes c;

static void teardown(void)
{
	spec_classes_fini(&c);
}

TestSuite(class, .fini = teardown);

static const struct spec_class_rules plain,
	by_cpu = { .split_cpu = true }, by_tgid = { .split_tgid = true },
	by_tid = { .split_tid = true },
	by_both = { .split_tgid = true, .split_tid = true };

Test(class, nothing_has_no_classes)
{
	must(&c, NULL, 0, plain);
	cr_expect_eq(c.nr, 0);
	cr_expect_eq(c.axis, SPEC_AXIS_EVENT);
}

Test(class, tasks_and_cpus_are_one_column_unless_split)
{
	struct spec_name names[] = { task(1, 2, 0), task(3, 4, 1), task(5, 5, 0) };

	must(&c, names, 3, plain);
	cr_assert_eq(c.nr, 1);
	cr_expect_eq(c.classes[0].tgid, SPEC_ALL);
	cr_expect_eq(c.classes[0].tid, SPEC_ALL);
	cr_expect_eq(c.classes[0].cpu, SPEC_ALL);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(c.of_name[i], 0);
}

Test(class, events_are_ordered_by_mask_then_name_then_count_as_text)
{
	struct spec_name names[] = {
		event("B", 10, 0), event("B", 9, 0), event("B", 100, 0), event("C", 1, 0),
		event("A", 5, 2),  event("Z", 1, 1), event("B", 10, 0),
	};
	static const struct {
		const char *event;
		uint64_t count;
	} want[] = { { "B", 10 }, { "B", 100 }, { "B", 9 },
		     { "C", 1 },  { "Z", 1 },   { "A", 5 } };
	static const uint32_t of[] = { 0, 2, 1, 3, 5, 4, 0 };

	must(&c, names, 7, plain);
	cr_assert_eq(c.nr, 6);
	for (int i = 0; i < 6; i++) {
		cr_expect_str_eq(c.classes[i].event, want[i].event, "column %d", i);
		cr_expect_eq(c.classes[i].count, want[i].count, "column %d", i);
	}
	for (int i = 0; i < 7; i++)
		cr_expect_eq(c.of_name[i], of[i], "name %d", i);
}

Test(class, merged_masks_do_not_order_events)
{
	struct spec_name names[] = { event("B", 9, 1), event("A", 5, 6), event("A", 5, 8),
				     event("B", 10, 0) };
	static const struct spec_class_rules merged = { .merge_unitmask = true };

	must(&c, names, 4, merged);
	cr_assert_eq(c.nr, 3);
	cr_expect_str_eq(c.classes[0].event, "A");
	cr_expect_eq(c.classes[0].unit_mask, 14);
	cr_expect_eq(c.classes[1].count, 10);
	cr_expect_eq(c.classes[2].count, 9);
}

Test(class, numbers_of_tasks_are_ordered_as_numbers_and_all_is_last)
{
	struct spec_name names[] = { task(1, 1, SPEC_ALL), task(1, 1, 10),
				     task(1, 1, 9) };

	must(&c, names, 3, by_cpu);
	cr_assert_eq(c.nr, 3);
	cr_expect_eq(c.axis, SPEC_AXIS_CPU);
	cr_expect_eq(c.classes[0].cpu, 9);
	cr_expect_eq(c.classes[1].cpu, 10);
	cr_expect_eq(c.classes[2].cpu, SPEC_ALL);
}

Test(class, merged_unit_masks_show_the_bits_of_all)
{
	struct spec_name names[] = { event("A", 5, 0x01), event("A", 5, 0x40),
				     event("B", 5, 0x02), event("A", 6, 0x04) };

	must(&c, names, 4, (struct spec_class_rules){ .merge_unitmask = true });
	cr_assert_eq(c.nr, 3);
	cr_expect_eq(c.of_name[0], c.of_name[1]);
	cr_expect_eq(c.classes[c.of_name[0]].unit_mask, 0x41);
	cr_expect_eq(c.classes[c.of_name[2]].unit_mask, 0x02);
	cr_expect_eq(c.classes[c.of_name[3]].unit_mask, 0x04);
}

Test(class, a_process_and_its_threads_go_together_if_they_are_the_same)
{
	struct spec_name names[] = { task(7, 7, 0), task(8, 8, 0) };

	must(&c, names, 2, by_both);
	cr_expect_eq(c.nr, 2);
	cr_expect_eq(c.axis, SPEC_AXIS_TGID);
}

Test(class, threads_of_one_process_are_an_axis)
{
	struct spec_name names[] = { task(7, 7, 0), task(7, 8, 0) };

	must(&c, names, 2, by_both);
	cr_expect_eq(c.nr, 2);
	cr_expect_eq(c.axis, SPEC_AXIS_TID);
}

static void refuses(const struct spec_name *names, size_t nr,
		    struct spec_class_rules rules, const char *first, const char *second,
		    const char *advice)
{
	struct err err = { 0 };
	struct spec_classes none;

	cr_expect_eq(classify(&none, names, nr, rules, 64, &err), -EINVAL);
	cr_expect(strstr(err.msg, first) && strstr(err.msg, second) &&
			  strstr(err.msg, advice),
		  "%s", err.msg);
	cr_expect_null(none.classes);
}

Test(class, two_axes_are_refused_with_the_reason_and_a_way_out)
{
	struct spec_name on_cpus[] = { event("A", 5, 0), event("B", 5, 0),
				       event("A", 5, 0) };
	struct spec_name threads[] = { task(7, 7, 0), task(7, 8, 0), task(9, 9, 0) };
	struct spec_name mixed[] = { task(1, 1, 0), task(2, 2, 1) };

	on_cpus[0].cpu = 0;
	on_cpus[1].cpu = 0;
	on_cpus[2].cpu = 3;
	refuses(on_cpus, 3, by_cpu, "event (A:5:0x00,B:5:0x00)", "cpu",
		"leave out split:cpu");
	refuses(threads, 3, by_both, "tgid (7,9)", "tid", "choose one with tgid:");
	refuses(mixed, 2,
		(struct spec_class_rules){ .split_cpu = true, .split_tid = true },
		"tid (1,2)", "cpu", "split:tid");
}

Test(class, a_refusal_names_five_values_and_counts_the_others)
{
	struct spec_name names[8];

	for (int i = 0; i < 8; i++)
		names[i] = task(i + 1, i + 2, 0);
	refuses(names, 8, by_both, "tgid (1,2,3,4,5 and 3 more)", "tid", "split:tgid");
}

Test(class, as_many_as_allowed_and_no_more)
{
	struct spec_name names[5];
	struct err err = { 0 };

	for (int i = 0; i < 5; i++)
		names[i] = task(1, 1, i);
	cr_assert_eq(classify(&c, names, 4, by_cpu, 4, &err), 0);
	cr_expect_eq(c.nr, 4);
	spec_classes_fini(&c);
	cr_expect_eq(classify(&c, names, 5, by_cpu, 4, &err), -E2BIG);
	cr_expect(strstr(err.msg, "cpu:"), "%s", err.msg);
}

Test(class, one_split_axis_at_a_time)
{
	struct spec_name names[] = { task(1, 10, 0), task(1, 11, 1), task(2, 12, 1) };

	must(&c, names, 3, by_tgid);
	cr_expect_eq(c.nr, 2);
	cr_expect_eq(c.axis, SPEC_AXIS_TGID);
	cr_expect_eq(c.of_name[0], c.of_name[1]);
	spec_classes_fini(&c);
	must(&c, names, 3, by_tid);
	cr_expect_eq(c.nr, 3);
	cr_expect_eq(c.axis, SPEC_AXIS_TID);
}
