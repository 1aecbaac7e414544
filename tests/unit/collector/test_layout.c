/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>

#include "collector/source/decode.h"
#include "tests/unit/collector/records.h"

/* What perf's own tools ask for, and what they could. */
#define BASE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)
#define ALL_FIELDS                                                                       \
	(BASE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |             \
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define ALL_FORMATS                                                                      \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING |               \
	 PERF_FORMAT_ID | PERF_FORMAT_LOST)

static const uint64_t types[] = {
	BASE | PERF_SAMPLE_ID,
	BASE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_PERIOD,
	BASE | PERF_SAMPLE_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
	BASE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU | PERF_SAMPLE_READ,
	ALL_FIELDS,
	ALL_FIELDS | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
};
enum { NR_TYPES = sizeof(types) / sizeof(types[0]) };

static struct coll_decoder d;
static struct coll_rec rec;
static struct bytes b;

static void setup(void)
{
	cr_assert_eq(coll_decoder_add(&d, 77, 2), 0);
}

static void teardown(void)
{
	coll_decoder_fini(&d);
}

TestSuite(layout, .init = setup, .fini = teardown);

static int use(uint64_t type, uint64_t format, bool id_all)
{
	struct perf_event_attr attr = { .sample_type = type,
					.read_format = format,
					.sample_id_all = id_all };

	return coll_layout_init(&d.layout, &attr, NULL);
}

static int decode(void)
{
	struct err err = { 0 };

	return coll_decode(&d, b.data, b.len, &rec, &err);
}

static void put_if(uint64_t type, uint64_t bit, uint64_t value)
{
	if (type & bit)
		put64(&b, value);
}

/* The counters that were read: two of a group, or one. */
static void put_read(uint64_t format)
{
	int nr = format & PERF_FORMAT_GROUP ? 2 : 1;

	if (nr == 2)
		put64(&b, 2);
	else
		put64(&b, 11);
	put_if(format, PERF_FORMAT_TOTAL_TIME_ENABLED, 12);
	put_if(format, PERF_FORMAT_TOTAL_TIME_RUNNING, 13);
	for (int i = 0; i < nr; i++) {
		if (nr == 2)
			put64(&b, 11);
		put_if(format, PERF_FORMAT_ID, 14);
		put_if(format, PERF_FORMAT_LOST, 15);
	}
}

/* Field by field as perf_event_open(2) has them. */
static void sample(uint64_t type, uint64_t format)
{
	begin(&b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put_if(type, PERF_SAMPLE_IDENTIFIER, 77);
	put64(&b, 0x401234);
	put32(&b, 100);
	put32(&b, 101);
	put64(&b, 5000);
	put_if(type, PERF_SAMPLE_ADDR, 1);
	put_if(type, PERF_SAMPLE_ID, 77);
	put_if(type, PERF_SAMPLE_STREAM_ID, 2);
	put_if(type, PERF_SAMPLE_CPU, 3);
	put_if(type, PERF_SAMPLE_PERIOD, 4);
	if (type & PERF_SAMPLE_READ)
		put_read(format);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put64(&b, 2);
		put64(&b, 0x401234);
		put64(&b, 0x405678);
	}
	end(&b);
}

static void expect_sample(uint64_t type)
{
	cr_expect_eq(rec.kind, COLL_REC_SAMPLE);
	cr_expect_eq(rec.event, 2);
	cr_expect_eq(rec.sample.ip, 0x401234);
	cr_expect_eq(rec.tgid, 100);
	cr_expect_eq(rec.tid, 101);
	cr_expect_eq(rec.time_ns, 5000);
	cr_expect_eq(rec.cpu, type & PERF_SAMPLE_CPU ? 3 : 0);
	cr_expect_eq(rec.sample.nr_ips, type & PERF_SAMPLE_CALLCHAIN ? 2 : 0);
	if (rec.sample.nr_ips)
		cr_expect_eq(rec.sample.ips[1], 0x405678);
	cr_expect_eq(coll_layout_time(&d.layout, b.data, b.len), 5000);
}

Test(layout, finds_the_fields_of_a_sample_whatever_else_was_asked_for)
{
	for (size_t i = 0; i < NR_TYPES; i++)
		for (uint64_t format = 0; format <= ALL_FORMATS; format++) {
			if (format & ~(uint64_t)ALL_FORMATS)
				continue;
			for (int group = 0; group < 2; group++) {
				uint64_t f = format | (group ? PERF_FORMAT_GROUP : 0);

				cr_assert_eq(use(types[i], f, true), 0);
				sample(types[i], f);
				cr_assert_eq(decode(), 0, "type %zu, format %d", i,
					     (int)f);
				expect_sample(types[i]);
			}
		}
}

Test(layout, refuses_a_sample_that_is_cut_short_anywhere)
{
	for (size_t i = 0; i < NR_TYPES; i++) {
		cr_assert_eq(use(types[i], ALL_FORMATS | PERF_FORMAT_GROUP, true), 0);
		sample(types[i], ALL_FORMATS | PERF_FORMAT_GROUP);
		while (b.len > 8) {
			b.len -= 8;
			end(&b);
			cr_expect_eq(decode(), -EBADMSG, "type %zu, %zu bytes", i, b.len);
		}
	}
}

Test(layout, refuses_more_counters_than_a_record_can_hold)
{
	uint64_t type = types[3];

	cr_assert_eq(use(type, PERF_FORMAT_GROUP, true), 0);
	sample(type, PERF_FORMAT_GROUP);
	for (uint64_t nr = 3; nr; nr *= 2) {
		memcpy(b.data + d.layout.end, &nr, sizeof(nr));
		cr_expect_eq(decode(), -EBADMSG, "%d", (int)nr);
	}
}

Test(layout, finds_time_and_cpu_behind_other_records)
{
	for (size_t i = 0; i < NR_TYPES; i++) {
		cr_assert_eq(use(types[i], 0, true), 0);
		begin(&b, PERF_RECORD_COMM, 0);
		put32(&b, 100);
		put32(&b, 101);
		put(&b, "program", 8);
		put32(&b, 100);
		put32(&b, 101);
		put64(&b, 6000);
		put_if(types[i], PERF_SAMPLE_ID, 77);
		put_if(types[i], PERF_SAMPLE_STREAM_ID, 2);
		put_if(types[i], PERF_SAMPLE_CPU, 3);
		put_if(types[i], PERF_SAMPLE_IDENTIFIER, 77);
		end(&b);
		cr_assert_eq(decode(), 0, "type %zu", i);
		cr_expect_str_eq(rec.comm.name, "program");
		cr_expect_eq(rec.time_ns, 6000);
		cr_expect_eq(rec.cpu, types[i] & PERF_SAMPLE_CPU ? 3 : 0);
		cr_expect_eq(coll_layout_time(&d.layout, b.data, b.len), 6000);
	}
}

Test(layout, of_records_without_a_sample_id_has_no_time_for_them)
{
	cr_assert_eq(use(types[0], 0, false), 0);
	begin(&b, PERF_RECORD_COMM, 0);
	put32(&b, 100);
	put32(&b, 101);
	put(&b, "program", 8);
	end(&b);
	cr_assert_eq(decode(), 0);
	cr_expect_str_eq(rec.comm.name, "program");
	cr_expect_eq(rec.time_ns, 0);
	cr_expect_eq(coll_layout_time(&d.layout, b.data, b.len), 0);
}

Test(layout, needs_event_place_task_and_time)
{
	static const uint64_t needed[] = { PERF_SAMPLE_ID, PERF_SAMPLE_IP,
					   PERF_SAMPLE_TID, PERF_SAMPLE_TIME };

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		cr_expect_eq(use(types[0] & ~needed[i], 0, true), -EINVAL);
}
