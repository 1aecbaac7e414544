/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "libspec/name/clock.h"
#include "libspec/session/stats.h"
#include "libspec/spec/span.h"
#include "tests/unit/libspec/scratch.h"

/* 2026-11-21 09:30:00 UTC */
#define NOW (UINT64_C(1795253400) * SPEC_NS_PER_S)

static void in_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

/* The span as text, in UTC; "bad" if it is none. */
static const char *parsed(const char *tag, const char *text, uint64_t now_ns)
{
	static struct strbuf out;
	struct err err = { 0 };
	struct spec_span s;

	strbuf_reset(&out);
	if (spec_span_parse(spec_tag_find(tag, strlen(tag)), text, now_ns, &s, &err)) {
		cr_expect_eq(err.code, -EINVAL);
		cr_expect_neq(err.msg[0], '\0');
		return "bad";
	}
	spec_clock_utc(s.from_ns, &out);
	strbuf_putc(&out, ' ');
	if (s.to_ns == UINT64_MAX)
		strbuf_puts(&out, "open");
	else
		spec_clock_utc(s.to_ns, &out);
	return strbuf_str(&out);
}

static void expect_time(const char *text, const char *want)
{
	const char *got = parsed("time", text, NOW);

	cr_expect_str_eq(got, want, "%s: %s", text, got);
}

Test(span, moments_with_a_date_are_those)
{
	in_zone("UTC");
	expect_time("2026-11-21T09:00..2026-11-21T09:05:30",
		    "2026-11-21T09:00:00Z 2026-11-21T09:05:30Z");
	expect_time("2026-11-20..2026-11-20",
		    "2026-11-20T00:00:00Z 2026-11-20T23:59:59.999999999Z");
	expect_time("2026-11-20", "2026-11-20T00:00:00Z 2026-11-20T23:59:59.999999999Z");
	expect_time("2026-11-20T09:00",
		    "2026-11-20T09:00:00Z 2026-11-20T09:00:59.999999999Z");
	expect_time("2026-11-20T09:00:01",
		    "2026-11-20T09:00:01Z 2026-11-20T09:00:01.999999999Z");
	expect_time("..", "1970-01-01T00:00:00Z open");
	expect_time("2027-01-01..", "2027-01-01T00:00:00Z open");
}

Test(span, a_time_of_day_is_the_last_one_and_an_end_the_next_after_it)
{
	in_zone("UTC");
	expect_time("09:00..09:05", "2026-11-21T09:00:00Z 2026-11-21T09:05:00Z");
	expect_time("09:29..09:31", "2026-11-21T09:29:00Z 2026-11-21T09:31:00Z");
	expect_time("10:00..10:05", "2026-11-20T10:00:00Z 2026-11-20T10:05:00Z");
	expect_time("23:55..00:05", "2026-11-20T23:55:00Z 2026-11-21T00:05:00Z");
	expect_time("09:00..08:00", "2026-11-21T09:00:00Z 2026-11-22T08:00:00Z");
	expect_time("09:30", "2026-11-21T09:30:00Z 2026-11-21T09:30:59.999999999Z");
	expect_time("..09:05", "1970-01-01T00:00:00Z 2026-11-21T09:05:00Z");
	expect_time("2026-11-19T23:00..01:00",
		    "2026-11-19T23:00:00Z 2026-11-20T01:00:00Z");
}

Test(span, ages_count_from_now)
{
	in_zone("UTC");
	expect_time("-10m..-5m", "2026-11-21T09:20:00Z 2026-11-21T09:25:00Z");
	expect_time("-1h30m..now", "2026-11-21T08:00:00Z 2026-11-21T09:30:00Z");
	expect_time("-1d", "2026-11-20T09:30:00Z 2026-11-20T09:30:00Z");
	expect_time("-9999w..", "1970-01-01T00:00:00Z open");
	cr_expect_str_eq(parsed("last", "30s", NOW), "2026-11-21T09:29:30Z open");
	cr_expect_str_eq(parsed("last", "1w2d", NOW), "2026-11-12T09:30:00Z open");
}

Test(span, the_zone_is_the_local_one_unless_utc_is_asked_for)
{
	in_zone("Europe/Berlin");
	expect_time("09:00..09:05", "2026-11-21T08:00:00Z 2026-11-21T08:05:00Z");
	expect_time("09:00Z..09:05Z", "2026-11-21T09:00:00Z 2026-11-21T09:05:00Z");
	expect_time("2026-07-01T09:00",
		    "2026-07-01T07:00:00Z 2026-07-01T07:00:59.999999999Z");
	in_zone("America/New_York");
	expect_time("23:00..01:00", "2026-11-21T04:00:00Z 2026-11-21T06:00:00Z");
}

/* On 2026-10-25 at 3:00 the clocks of Berlin go back to 2:00. */
Test(span, days_with_25_hours_do_not_move_a_time_of_day)
{
	uint64_t now = (UINT64_C(1792918800)) * SPEC_NS_PER_S; /* 2026-10-25 09:00 UTC */

	in_zone("Europe/Berlin");
	cr_expect_str_eq(parsed("time", "23:00..04:00", now),
			 "2026-10-24T21:00:00Z 2026-10-25T03:00:00Z");
}

Test(span, what_is_no_span_is_refused)
{
	static const char *const bad[] = { "",
					   "x",
					   "9:00",
					   "24:00",
					   "09:60",
					   "09",
					   "2026-13-01",
					   "2026-02-30",
					   "-5",
					   "-",
					   "-5x",
					   "5m",
					   "09:00-10:00",
					   "09:00...10:00",
					   "2026-11-21T",
					   "2026-11-21T09",
					   "2026-11-21 09:00",
					   "now..-5m",
					   "2026-11-22..2026-11-21",
					   "09:00ZZ",
					   "-18446744073709551616s..",
					   "all" };
	static const char *const bad_ages[] = {
		"", "5", "-5m", "m", "5m5", "all", "9999999999999999999w"
	};
	char text[200];

	in_zone("UTC");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_time(bad[i], "bad");
	for (size_t i = 0; i < sizeof(bad_ages) / sizeof(bad_ages[0]); i++)
		cr_expect_str_eq(parsed("last", bad_ages[i], NOW), "bad");
	memset(text, '1', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	expect_time(text, "bad");
}

/* ---- sessions */

static int span_of(const struct scratch *s, const char *name,
		   struct spec_session_span *out)
{
	return spec_session_span(s->fd, name, NOW, out, NULL);
}

Test(span, a_session_is_from_its_start_to_its_last_drain)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_live live = { 1, NOW - 5 * SPEC_NS_PER_S, true };
	struct spec_session_span span;

	cr_expect_eq(span_of(&s, "x", &span), -ENODATA);
	cr_assert_eq(spec_started_write(s.fd, NOW - 100 * SPEC_NS_PER_S, NULL), 0);
	cr_expect_eq(span_of(&s, "x", &span), -ENODATA);
	cr_assert_eq(spec_live_write(s.fd, &live, NULL), 0);
	cr_assert_eq(span_of(&s, "x", &span), 0);
	cr_expect_eq(span.span.from_ns, NOW - 100 * SPEC_NS_PER_S);
	cr_expect_eq(span.span.to_ns, live.drained_ns);
	cr_expect(span.closed);
	live.closed = false; /* goes on: what is taken now belongs to it */
	cr_assert_eq(spec_live_write(s.fd, &live, NULL), 0);
	cr_assert_eq(span_of(&s, "x", &span), 0);
	cr_expect_eq(span.span.to_ns, NOW);
	cr_expect_not(span.closed);
	live.drained_ns = NOW - 60 * SPEC_NS_PER_S; /* its collector was killed */
	cr_assert_eq(spec_live_write(s.fd, &live, NULL), 0);
	cr_assert_eq(span_of(&s, "x", &span), 0);
	cr_expect_eq(span.span.to_ns, live.drained_ns);
	live.drained_ns = NOW - 200 * SPEC_NS_PER_S; /* the clock was set back */
	cr_assert_eq(spec_live_write(s.fd, &live, NULL), 0);
	cr_assert_eq(span_of(&s, "x", &span), 0);
	cr_expect_eq(span.span.to_ns, span.span.from_ns);
}

Test(span, a_start_is_kept_to_the_nanosecond_and_may_be_whole_seconds)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	uint64_t ns = 0;

	cr_assert_eq(spec_started_write(s.fd, NOW + 1, NULL), 0);
	cr_assert_eq(spec_started_read(s.fd, &ns, NULL), 0);
	cr_expect_eq(ns, NOW + 1);
	cr_assert_eq(spec_started_write(s.fd, NOW + SPEC_NS_PER_S - 1, NULL), 0);
	cr_assert_eq(spec_started_read(s.fd, &ns, NULL), 0);
	cr_expect_eq(ns, NOW + SPEC_NS_PER_S - 1);
	scratch_write(&s, "stats/started", "1795251600\n", 11);
	cr_assert_eq(spec_started_read(s.fd, &ns, NULL), 0);
	cr_expect_eq(ns, UINT64_C(1795251600) * SPEC_NS_PER_S);
}

Test(span, a_name_tells_the_start_where_nothing_else_does)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct spec_live live = { 1, NOW, true };
	struct spec_session_span span;

	cr_assert_eq(spec_live_write(s.fd, &live, NULL), 0);
	cr_expect_eq(span_of(&s, "saved", &span), -ENODATA);
	cr_assert_eq(span_of(&s, "2026-11-21T09-00-00Z-2", &span), 0);
	cr_expect_eq(span.span.from_ns, NOW - 1800 * SPEC_NS_PER_S);
	scratch_write(&s, "stats/started", "soon", 4);
	cr_expect_eq(span_of(&s, "2026-11-21T09-00-00Z", &span), -EBADMSG);
}
