/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/header.h"

#include <criterion/criterion.h>
#include <math.h>

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

Test(header, does_not_invent_what_it_does_not_know)
{
	expect_lines(&(struct fake_event){ "l2_rqsts", 1000, 0x41, 9999 }, 2399.5,
		     "CPU: unknown type 9999, speed 2399.5 MHz (estimated)\n"
		     "Counted l2_rqsts events with a unit mask of 0x41 count 1000\n");
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
