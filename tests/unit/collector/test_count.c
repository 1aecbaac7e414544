/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "collector/count/formats.h"
#include "collector/count/tally.h"

/* ---- scaling */

Test(count, is_scaled_to_all_of_the_time)
{
	static const struct {
		struct coll_perf_value value;
		bool hardware;
		uint64_t count;
		double percent;
		bool missing;
	} rows[] = {
		{ { 1000, 500, 500, 0 }, true, 1000, 100, false },
		{ { 1000, 4000, 1000, 0 }, true, 4000, 25, false },
		/* to the nearest */
		{ { 10, 3, 2, 0 }, true, 15, 200.0 / 3, false },
		{ { 1, 5, 3, 0 }, true, 2, 60, false },
		{ { 1, 4, 3, 0 }, true, 1, 75, false },
		/* a product of more than 64 bits; more than can be told */
		{ { 1ull << 60, 3ull << 40, 1ull << 40, 0 },
		  true,
		  3ull << 60,
		  100.0 / 3,
		  false },
		{ { UINT64_MAX, 2, 1, 0 }, true, UINT64_MAX, 50, false },
		/* software is counted all the time, whatever the clock says */
		{ { 1000, 501, 500, 0 }, false, 1000, 100 * 500.0 / 501, false },
		/* nothing ran that was to be counted; no counter was free */
		{ { 0, 0, 0, 0 }, true, 0, 100, false },
		{ { 0, 500, 0, 0 }, true, 0, 0, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct coll_count c = coll_count_of(&rows[i].value, rows[i].hardware);
		double off = coll_count_percent(&c) - rows[i].percent;

		cr_expect_eq(c.count, rows[i].count, "row %zu: %llu", i,
			     (unsigned long long)c.count);
		cr_expect_eq(c.raw, rows[i].value.count, "row %zu", i);
		cr_expect(off < 1e-9 && off > -1e-9, "row %zu: off by %g", i, off);
		cr_expect_eq(coll_count_missing(&c), rows[i].missing, "row %zu", i);
	}
}

/* ---- formats */

/* Two events of two places, as if they had been counted. */
static struct coll_counted counted[2];
static struct coll_counted_events events = { .data = counted, .len = 2 };
static uint32_t places[] = { 0, 13 };
static struct coll_count counts[] = {
	{ 1234567, 617284, 4000, 2000 },
	{ 12, 12, 100, 100 },
	{ 1000, 1000, 4000, 4000 },
	{ 0, 0, 0, 0 },
};
static struct coll_tally tally = {
	.events = &events,
	.places = { places, 2, 2 },
};
static char *command[] = { (char[]){ "ls" }, (char[]){ "a \"b\"" }, NULL };
static struct coll_count_sheet sheet = { .tally = &tally, .of = "cpus" };

static void fill(void)
{
	static char words[][16] = { "cycles:0:0:1", "task-clock" };
	struct err err = { 0 };

	for (int i = 0; i < 2; i++) {
		cr_assert_eq(ev_spec_parse_counted(words[i], &counted[i].event.spec,
						   &err),
			     0, "%s", err.msg);
		counted[i].label = words[i];
	}
	tally.counts.data = counts;
	tally.counts.len = 4;
}

TestSuite(count_formats, .init = fill);

static void expect(const struct coll_count_format *f, const char *want)
{
	static const struct coll_count_time first = { 0, 1500000000,
						      1700000000250999999 };
	static const struct coll_count_time second = { 1500000000, 2000000000,
						       1700000000750000000 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	f->begin(&sheet, &out);
	f->counts(&sheet, &first, &out);
	if (sheet.intervals)
		f->counts(&sheet, &second, &out);
	f->end(&sheet, 2000000000, &out);
	cr_expect_str_eq(strbuf_str(&out), want);
}

Test(count_formats, text_groups_digits_and_adds_up_places)
{
	expect(&coll_count_text, "event                           count     counted\n"
				 "cycles:0:0:1                1,235,567     75.00 %\n"
				 "task-clock (ns)                    12    100.00 %\n"
				 "\n"
				 "2.000000 seconds elapsed\n");
}

Test(count_formats, text_has_rows_of_places_and_all)
{
	sheet.by = "cpu";
	counts[2] = (struct coll_count){ 0, 0, 4000, 0 };
	expect(&coll_count_text,
	       "event            cpu                        count     counted\n"
	       "cycles:0:0:1     0                      1,234,567     50.00 %\n"
	       "cycles:0:0:1     13                   not counted      0.00 %\n"
	       "cycles:0:0:1     all                    1,234,567     25.00 %\n"
	       "task-clock (ns)  0                             12    100.00 %\n"
	       "task-clock (ns)  13                             0    100.00 %\n"
	       "task-clock (ns)  all                           12    100.00 %\n"
	       "\n"
	       "2.000000 seconds elapsed\n");
}

Test(count_formats, text_of_intervals_has_their_ends)
{
	sheet.intervals = true;
	expect(&coll_count_text,
	       "     seconds  event                           count     counted\n"
	       "       1.500  cycles:0:0:1                1,235,567     75.00 %\n"
	       "       1.500  task-clock (ns)                    12    100.00 %\n"
	       "       2.000  cycles:0:0:1                1,235,567     75.00 %\n"
	       "       2.000  task-clock (ns)                    12    100.00 %\n");
}

Test(count_formats, brief_is_as_of_ocount)
{
	expect(&coll_count_brief, "cycles:0:0:1,1235567,75.00\n"
				  "task-clock,12,100.00\n");
	sheet.by = "thread";
	expect(&coll_count_brief, "0,cycles:0:0:1,1234567,50.00\n"
				  "13,cycles:0:0:1,1000,100.00\n"
				  "0,task-clock,12,100.00\n"
				  "13,task-clock,0,100.00\n");
	sheet.by = NULL;
	sheet.intervals = true;
	expect(&coll_count_brief, "timestamp,1700000000.250\n"
				  "cycles:0:0:1,1235567,75.00\n"
				  "task-clock,12,100.00\n"
				  "timestamp,1700000000.750\n"
				  "cycles:0:0:1,1235567,75.00\n"
				  "task-clock,12,100.00\n");
}

Test(count_formats, json_has_what_the_kernel_told)
{
	sheet.by = "thread";
	sheet.command = command;
	counts[2] = (struct coll_count){ 0, 0, 4000, 0 };
	counted[1].event.user_only = true;
	expect(&coll_count_json,
	       "{\"format\": \"opcollect count\", \"version\": 1, \"of\": \"cpus\", "
	       "\"command\": [\"ls\", \"a \\\"b\\\"\"], \"separate\": \"thread\", "
	       "\"events\": [\n"
	       "{\"label\": \"cycles:0:0:1\", \"name\": \"cycles\", \"unit_mask\": 0, "
	       "\"kernel\": false, \"user\": true, \"unit\": null},\n"
	       "{\"label\": \"task-clock\", \"name\": \"task-clock\", \"unit_mask\": 0, "
	       "\"kernel\": false, \"user\": true, \"unit\": \"ns\"}], \"intervals\": [\n"
	       "{\"begin_ns\": 0, \"end_ns\": 1500000000, \"clock_ns\": "
	       "1700000000250999999, \"counts\": [\n"
	       "{\"event\": \"cycles:0:0:1\", \"thread\": 0, \"count\": 1234567, "
	       "\"raw\": 617284, \"enabled_ns\": 4000, \"running_ns\": 2000},\n"
	       "{\"event\": \"cycles:0:0:1\", \"thread\": 13, \"count\": null, "
	       "\"raw\": 0, \"enabled_ns\": 4000, \"running_ns\": 0},\n"
	       "{\"event\": \"cycles:0:0:1\", \"count\": 1234567, "
	       "\"raw\": 617284, \"enabled_ns\": 8000, \"running_ns\": 2000},\n"
	       "{\"event\": \"task-clock\", \"thread\": 0, \"count\": 12, "
	       "\"raw\": 12, \"enabled_ns\": 100, \"running_ns\": 100},\n"
	       "{\"event\": \"task-clock\", \"thread\": 13, \"count\": 0, "
	       "\"raw\": 0, \"enabled_ns\": 0, \"running_ns\": 0},\n"
	       "{\"event\": \"task-clock\", \"count\": 12, "
	       "\"raw\": 12, \"enabled_ns\": 100, \"running_ns\": 100}]}], "
	       "\"elapsed_ns\": 2000000000}\n");
}
