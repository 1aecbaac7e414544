/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/header.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/unit/opfs/fake.h"

static void expect_lines(const struct fake_event *e, double mhz, const char *want)
{
	struct strbuf out = { 0 };
	struct profile *p;
	struct fake f;

	fake_init(&f);
	f.cat.files[fake_file(&f, "/bin/a", "/bin/a", e, 3)].header.cpu_mhz = mhz;
	p = fake_load(&f, PROFILE_PAIRS);
	header_lines(p, &out);
	cr_expect_str_eq(strbuf_str(&out), want, "got\n%s", strbuf_str(&out));
	strbuf_fini(&out);
	profile_put(p);
	fake_fini(&f);
}

Test(header, tells_the_timer)
{
	expect_lines(
		&(struct fake_event){ "TIMER", 0, 0, 4 }, 0,
		"CPU: CPU with timer interrupt\nProfiling through timer interrupt\n");
}

Test(header, takes_what_oprofile_does_not_know_from_the_event_table)
{
	expect_lines(&(struct fake_event){ "page-faults", 1, 0, 41 }, 0,
		     "CPU: Intel Architectural Perfmon\n"
		     "Counted page-faults events (page faults) with a unit mask of 0x00 "
		     "(No unit mask) count 1\n");
}

Test(header, hides_a_speed_that_is_not_known)
{
	static const char want[] = "CPU: Intel Skylake microarchitecture\n"
				   "Counted LLC_MISSES events (Last level cache demand "
				   "requests from this core "
				   "that missed the LLC) with a unit mask of 0x01 "
				   "(multiple flags) count 6\n";
	static const double unknown[] = { 0, -1, NAN, INFINITY };

	for (int i = 0; i < 4; i++)
		expect_lines(&(struct fake_event){ "LLC_MISSES", 6, 1, 80 }, unknown[i],
			     want);
}

/* No machine has an event of that name: what this one has would be described. */
Test(header, does_not_invent_what_it_does_not_know)
{
	expect_lines(
		&(struct fake_event){ "nobodys_event", 1000, 0x41, 9999 }, 2399.5,
		"CPU: unknown type 9999, speed 2399.5 MHz (estimated)\n"
		"Counted nobodys_event events with a unit mask of 0x41 count 1000\n");
}

Test(header, titles_are_cut_to_seventeen)
{
	static const struct {
		struct fake_event e;
		const char *title;
	} rows[] = {
		{ { "LLC_MISSES", 6000, 0, 41 }, "LLC_MISSES:6000" },
		{ { "SEVENTEENLONG", 123, 0, 41 }, "SEVENTEENLONG:123" },
		{ { "EIGHTEENLONG_N", 123, 0, 41 }, "EIGHTEENLONG_N..." },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char title[HEADER_TITLE_MAX + 1];
		struct profile *p;
		struct fake f;

		fake_init(&f);
		fake_file(&f, "/bin/a", "/bin/a", &rows[i].e, 3);
		p = fake_load(&f, PROFILE_PAIRS);
		header_title(p, 0, title);
		cr_expect_str_eq(title, rows[i].title);
		profile_put(p);
		fake_fini(&f);
	}
}

Test(header, unit_masks_tell_equal_titles_apart)
{
	struct profile *p;
	struct fake f;
	char title[HEADER_TITLE_MAX + 1];

	fake_init(&f);
	fake_file(&f, "/bin/a", "/bin/a",
		  &(struct fake_event){ "l2_rqsts", 1000000, 1, 41 }, 3);
	fake_file(&f, "/bin/a", "/bin/a",
		  &(struct fake_event){ "l2_rqsts", 1000000, 0xffffffff, 41 }, 3);
	p = fake_load(&f, PROFILE_PAIRS);
	header_title(p, 0, title);
	cr_expect_str_eq(title, "l2_rqsts:...:0x01");
	header_title(p, 1, title);
	cr_expect_str_eq(title, "l2_...:0xffffffff");
	profile_put(p);
	fake_fini(&f);
}

Test(header, titles_that_would_be_cut_to_the_same_are_cut_in_the_middle)
{
	static const char *const events[] = { "mem_load_uops.l1_hit",
					      "mem_load_uops.l3_hit", "cycles" };
	static const char *const titles[] = { "cycles:2000000", "mem_...it:2000000",
					      "mem_...it:3000000" };
	struct profile *p;
	struct fake f;
	char title[HEADER_TITLE_MAX + 1];

	fake_init(&f);
	for (size_t i = 0; i < 3; i++)
		fake_file(&f, "/bin/a", "/bin/a",
			  &(struct fake_event){ events[i], i == 1 ? 3000000 : 2000000, 0,
						41 },
			  3);
	p = fake_load(&f, PROFILE_PAIRS);
	for (size_t i = 0; i < 3; i++) {
		header_title(p, i, title);
		cr_expect_str_eq(title, titles[i]);
	}
	profile_put(p);
	fake_fini(&f);
}

/* Three CPUs of one event; what is split is the caller's choice. */
static struct profile *load_split(struct fake *f, struct spec_class_rules rules)
{
	static const struct fake_event e = { "LLC_MISSES", 6000, 0x41, 41 };
	const uint32_t all[] = { 0, 1, 2 };
	struct profile_query q = {
		.cat = &f->cat, .selected = all, .nr_selected = 3, .classes = rules
	};
	struct profile *p = NULL;
	struct err err = { 0 };

	for (int i = 0; i < 3; i++) {
		struct catalog_file *file =
			&f->cat.files[fake_file(f, "/a", "/a", &e, 1)];

		file->name.cpu = i == 2 ? SPEC_ALL : 10 - i;
		file->name.tgid = file->name.tid = 100 + i;
	}
	cr_assert_eq(profile_load(&q, &p, &err), 0, "%s", err.msg);
	return p;
}

static const struct {
	struct spec_class_rules rules;
	const char *lines, *titles[3];
} splits[] = {
	{ { .split_cpu = true },
	  "Samples on CPU 9\nSamples on CPU 10\nSamples on CPU all\n",
	  { "cpu:9", "cpu:10", "cpu:all" } },
	{ { .split_tid = true },
	  "Processes with a thread ID of 100\nProcesses with a thread ID of 101\n"
	  "Processes with a thread ID of 102\n",
	  { "tid:100", "tid:101", "tid:102" } },
	{ { .split_tid = true, .split_tgid = true },
	  "Processes with a thread group ID of 100\n"
	  "Processes with a thread group ID of 101\n"
	  "Processes with a thread group ID of 102\n",
	  { "tgid:100", "tgid:101", "tgid:102" } },
};

Test(header, a_split_has_the_event_once_and_a_line_a_column)
{
	static const char event[] =
		"CPU: Intel Architectural Perfmon, speed 2400 MHz (estimated)\n"
		"Counted LLC_MISSES events (Last level cache demand requests from this "
		"core that missed the LLC) with a unit mask of 0x41 (No unit mask) "
		"count 6000\n";

	for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
		char title[HEADER_TITLE_MAX + 1];
		struct strbuf out = { 0 };
		struct profile *p;
		struct fake f;

		fake_init(&f);
		p = load_split(&f, splits[i].rules);
		header_lines(p, &out);
		cr_assert_gt(out.len, strlen(event));
		cr_expect(!strncmp(out.data, event, strlen(event)), "%s", out.data);
		cr_expect_str_eq(out.data + strlen(event), splits[i].lines);
		for (size_t c = 0; c < 3; c++) {
			header_title(p, c, title);
			cr_expect_str_eq(title, splits[i].titles[c]);
		}
		strbuf_fini(&out);
		profile_put(p);
		fake_fini(&f);
	}
}
