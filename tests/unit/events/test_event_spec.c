/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "events/event_spec.h"

static struct ev_spec parsed(const char *text)
{
	struct err err = { 0 };
	struct ev_spec s;

	cr_assert_eq(ev_spec_parse(text, &s, &err), 0, "%s", err.msg);
	return s;
}

Test(event_spec, reads_all_five_fields)
{
	struct ev_spec s = parsed("CPU_CLK_UNHALTED:100000:0:1:0");

	cr_expect_str_eq(s.event.name, "CPU_CLK_UNHALTED");
	cr_expect_eq(s.event.perf_type, PERF_TYPE_HARDWARE);
	cr_expect_eq(s.event.perf_config, PERF_COUNT_HW_CPU_CYCLES);
	cr_expect_eq(s.count, 100000);
	cr_expect(s.kernel);
	cr_expect_not(s.user);
}

Test(event_spec, has_defaults_for_fields_left_out_or_empty)
{
	struct ev_spec s = parsed("TIMER");

	cr_expect_eq(s.count, 0);
	cr_expect(s.kernel && s.user);
	s = parsed("page-faults:::0");
	cr_expect_not(s.kernel);
	cr_expect(s.user);
}

Test(event_spec, finds_names_in_any_case_and_gives_the_proper_one)
{
	cr_expect_str_eq(parsed("cpu_clk_unhalted").event.name, "CPU_CLK_UNHALTED");
	cr_expect_str_eq(parsed("timer").event.name, "TIMER");
	cr_expect_str_eq(parsed("CYCLES").event.name, "CYCLES");
	cr_expect_str_eq(parsed("Cycles").event.name, "cycles");
}

Test(event_spec, puts_the_unit_mask_into_a_raw_code)
{
	struct ev_spec s, copy;
	struct err err = { 0 };

	cr_assert_eq(ev_spec_parse("r2e:6000:0x41", &s, &err), 0, "%s", err.msg);
	ev_spec_copy(&copy, &s);
	memset(&s, 0, sizeof(s));
	cr_expect_str_eq(copy.event.name, "r2e");
	cr_expect_eq(copy.event.perf_type, PERF_TYPE_RAW);
	cr_expect_eq(ev_spec_config(&copy), 0x412e);
}

Test(event_spec, has_unique_names_and_a_text_for_each)
{
	for (size_t i = 0; ev_event_at(i); i++) {
		cr_expect(ev_event_at(i)->doc[0]);
		for (size_t j = 0; j < i; j++)
			cr_expect_str_neq(ev_event_at(i)->name, ev_event_at(j)->name);
	}
}

struct refusal {
	char text[64], why[64];
	int code;
};

ParameterizedTestParameters(event_spec, refuses)
{
	static struct refusal rows[] = {
		{ "", "no event name", -EINVAL },
		{ ":1000", "no event name", -EINVAL },
		{ "cylces", "did you mean cycles", -ENOENT },
		{ "CPU_CLK_UNHALTD", "did you mean CPU_CLK_UNHALTED", -ENOENT },
		{ "page_fault", "page-faults", -ENOENT },
		{ "qqqqqqqqqqqqqqq", "rNNN", -ENOENT },
		{ "rxyz", "no event of this name", -ENOENT },
		{ "r00000000000000001", "no event of this name", -ENOENT },
		{ "cycles:u", "count: \"u\" is not a number", -EINVAL },
		{ "cycles:-1", "is not a number", -EINVAL },
		{ "cycles:5000000000", "is not a number from 0 to 4294967295", -EINVAL },
		{ "cycles:1:0:2", "kernel: \"2\"", -EINVAL },
		{ "cycles:1:0:1:x", "user: \"x\"", -EINVAL },
		{ "cycles:1:0:0:0", "neither kernel nor user", -EINVAL },
		{ "cycles:1:0:1:1:1", "more than five fields", -EINVAL },
		{ "cycles:1:4", "has no unit masks", -EINVAL },
		{ "r1:1:0x100", "8 bits", -EINVAL },
	};

	return cr_make_param_array(struct refusal, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct refusal *row, event_spec, refuses)
{
	struct err err = { 0 };
	struct ev_spec s = { .count = 42 };

	cr_expect_eq(ev_spec_parse(row->text, &s, &err), row->code, "%s", row->text);
	cr_expect(strstr(err.msg, row->why), "%s: %s", row->text, err.msg);
	cr_expect_eq(s.count, 42);
}

Test(event_spec, refuses_a_text_without_end)
{
	char text[4096];
	struct err err = { 0 };
	struct ev_spec s;

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	cr_expect_eq(ev_spec_parse(text, &s, &err), -EINVAL);
	text[200] = '\0';
	cr_expect_eq(ev_spec_parse(text, &s, &err), -ENOENT);
}
