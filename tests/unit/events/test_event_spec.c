/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "events/event_spec.h"

/* The tables of a processor type and those that are everywhere. */
static const struct ev_tables *tables_of(const char *cpu)
{
	static struct ev_tables t;
	const char *const names[] = { cpu, "perf/generic", "perf/software", "timer" };
	struct err err = { 0 };

	t.nr = 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!names[i])
			continue;
		cr_assert_eq(ev_table_get(names[i], &t.all[t.nr], &err), 0, "%s",
			     err.msg);
		t.nr++;
	}
	return &t;
}

static int parse(const char *cpu, const char *text, struct ev_spec *s, struct err *err)
{
	return ev_spec_parse_in(tables_of(cpu), text, s, err);
}

static struct ev_spec parsed(const char *text)
{
	struct err err = { 0 };
	struct ev_spec s;

	cr_assert_eq(parse(NULL, text, &s, &err), 0, "%s", err.msg);
	return s;
}

static const char zen3[] = "x86-64/family19h";

static struct ev_spec amd(const char *text)
{
	struct err err = { 0 };
	struct ev_spec s;

	cr_assert_eq(parse(zen3, text, &s, &err), 0, "%s", err.msg);
	return s;
}

Test(event_spec, reads_all_five_fields)
{
	struct ev_spec s = parsed("CPU_CLK_UNHALTED:100000:0:1:0");
	struct ev_attr attr;

	cr_expect_str_eq(s.event.name, "CPU_CLK_UNHALTED");
	ev_spec_encode(&s, &attr);
	cr_expect_eq(attr.type, PERF_TYPE_HARDWARE);
	cr_expect_eq(attr.config, PERF_COUNT_HW_CPU_CYCLES);
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
	struct ev_attr attr;

	cr_assert_eq(parse(NULL, "r2e:6000:0x41", &s, &err), 0, "%s", err.msg);
	ev_spec_copy(&copy, &s);
	memset(&s, 0, sizeof(s));
	cr_expect_str_eq(copy.event.name, "r2e");
	ev_spec_encode(&copy, &attr);
	cr_expect_eq(attr.type, PERF_TYPE_RAW);
	cr_expect_eq(attr.config, 0x412e);
}

Test(event_spec, takes_the_processors_event_before_perfs)
{
	struct ev_attr attr;
	struct ev_spec s = amd("CPU_CLK_UNHALTED");

	ev_spec_encode(&s, &attr);
	cr_expect_eq(attr.type, PERF_TYPE_RAW);
	cr_expect_eq(attr.config, 0x76);
	cr_expect(s.event.is_cycles);
	cr_expect_eq(amd("cycles").event.table, tables_of(zen3)->all[1]);
}

Test(event_spec, knows_unit_masks_by_number_and_by_name)
{
	cr_expect_eq(amd("LS_DISPATCH:50000:0x2").unit_mask, 2);
	cr_expect_eq(amd("LS_DISPATCH:50000:STORE_dispatch").unit_mask, 2);
	cr_expect_eq(amd("LS_DISPATCH:50000:3").unit_mask, 3);
	cr_expect_null(amd("LS_DISPATCH:50000:3").mask);
	cr_expect_eq(amd("LS_DISPATCH").unit_mask, 7);
	cr_expect_eq(amd("OP_CACHE_HIT_MISS").unit_mask, 7);
	cr_expect_eq(amd("TLB_FLUSHES").unit_mask, 0xff);
}

Test(event_spec, reads_sys_and_user_as_the_only_mode)
{
	struct ev_spec s = amd("LS_DISPATCH:50000:sys");

	cr_expect(s.kernel && !s.user);
	s = amd("LS_DISPATCH:50000:0x1:user");
	cr_expect(s.user && !s.kernel);
	cr_expect_eq(s.unit_mask, 1);
}

Test(event_spec, marks_precise_and_ibs)
{
	struct ev_attr attr;
	struct ev_spec s = amd("IBS_OP_ALL:50000:dispatch");

	ev_spec_encode(&s, &attr);
	cr_expect_str_eq(attr.pmu, "ibs_op");
	cr_expect_eq(attr.config, 1 << 19);
	s = amd("IBS_FETCH_ALL");
	ev_spec_encode(&s, &attr);
	cr_expect_str_eq(attr.pmu, "ibs_fetch");
	cr_expect_eq(attr.config, 1ull << 57);
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
		{ "cycles:1u", "count: \"1u\" is not a number", -EINVAL },
		{ "cycles:-1", "is not a number", -EINVAL },
		{ "cycles:5000000000", "is not a number from 0 to 4294967295", -EINVAL },
		{ "cycles:1:0:2", "kernel: \"2\"", -EINVAL },
		{ "cycles:1:0:1:x", "user: \"x\"", -EINVAL },
		{ "cycles:1:0:0:0", "neither kernel nor user", -EINVAL },
		{ "cycles:1:0:1:1:1", "more than five fields", -EINVAL },
		{ "cycles:1:4", "has no unit masks", -EINVAL },
		{ "r1:1:0x100", "8 bits", -EINVAL },
		{ "cycles:sys:1", "nothing may follow \"sys\"", -EINVAL },
		{ "RETIRED_OPS:100", "the least is 50000", -EINVAL },
		{ "IBS_OP_ALL:50001", "multiples of 16: 50000 or 50016", -EINVAL },
		{ "LS_DISPATCH::8", "0x1 (ld_dispatch), 0x2", -EINVAL },
		{ "LS_DISPATCH::0", "is not allowed", -EINVAL },
		{ "LS_DISPATCH::loads", "is no name of one: there are", -EINVAL },
		{ "LS_DISPATCH::1x", "is no number", -EINVAL },
		{ "OP_CACHE_HIT_MISS::1", "is not allowed", -EINVAL },
		{ "TLB_FLUSHES::0", "there is only 0xff (all)", -EINVAL },
		{ "RETIRED_UOPS", "did you mean RETIRED_OPS", -ENOENT },
	};

	return cr_make_param_array(struct refusal, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct refusal *row, event_spec, refuses)
{
	struct err err = { 0 };
	struct ev_spec s = { .count = 42 };

	cr_expect_eq(parse(zen3, row->text, &s, &err), row->code, "%s", row->text);
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
	cr_expect_eq(parse(NULL, text, &s, &err), -EINVAL);
	text[200] = '\0';
	cr_expect_eq(parse(NULL, text, &s, &err), -ENOENT);
}

/* What is counted has no count. */

Test(event_spec, counted_has_its_unit_mask_behind_the_name)
{
	struct err err = { 0 };
	struct ev_spec s;

	cr_assert_eq(ev_spec_parse_counted("r1c2:3:0:1", &s, &err), 0, "%s", err.msg);
	cr_expect_eq(s.count, 0);
	cr_expect_eq(s.unit_mask, 3);
	cr_expect_not(s.kernel);
	cr_expect(s.user);
	cr_assert_eq(ev_spec_parse_counted("page-faults:sys", &s, &err), 0, "%s",
		     err.msg);
	cr_expect(s.kernel);
	cr_expect_not(s.user);
	cr_assert_eq(ev_spec_parse_counted("task-clock::1", &s, &err), 0, "%s", err.msg);
	cr_expect(s.kernel && s.user);
}

Test(event_spec, counted_refuses_a_count)
{
	static const struct refusal rows[] = {
		{ "page-faults:1000", "a COUNT is for samples", -EINVAL },
		{ "page-faults:1:0:1:1", "more than four fields", -EINVAL },
		{ "page-faults:0:0:0", "neither kernel nor user", -EINVAL },
		{ "page-faults:0:2", "kernel: \"2\"", -EINVAL },
		{ "page-fault", "did you mean page-faults", -ENOENT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = { 0 };
		struct ev_spec s;

		cr_expect_eq(ev_spec_parse_counted(rows[i].text, &s, &err), rows[i].code);
		cr_expect(strstr(err.msg, rows[i].why), "%s", err.msg);
	}
}

Test(event_spec, reads_the_modifiers_of_perf)
{
	static const struct {
		const char *text;
		bool kernel, user;
	} good[] = {
		{ "cycles:u", false, true },       { "cycles:k", true, false },
		{ "cycles:uk", true, true },       { "cycles:ku", true, true },
		{ "instructions:u", false, true }, { "page-faults:u", false, true },
	};
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "cycles:pp", "\"p\"" },
		{ "cycles:up", "\"p\"" },
		{ "cycles:uH", "\"H\"" },
		{ "cycles:x", "no such modifier" },
		{ "cycles:u:1", "nothing may follow" },
		{ "cpu/event=0x3c/", "rNNN" },
		{ "cycles:1000:u", "" },
	};
	struct err err;
	struct ev_spec s;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		s = parsed(good[i].text);
		cr_expect_eq(s.kernel, good[i].kernel, "%s", good[i].text);
		cr_expect_eq(s.user, good[i].user, "%s", good[i].text);
		cr_expect_eq(s.count, 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err = (struct err){ 0 };
		cr_expect_lt(parse(NULL, bad[i].text, &s, &err), 0, "%s", bad[i].text);
		cr_expect(strstr(err.msg, bad[i].why), "%s: %s", bad[i].text, err.msg);
	}
}
