/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/spec/span.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/name/clock.h"
#include "libspec/session/stats.h"

enum { FRESH_S = 10, DAY_S = 86400, MAX_STARTED = 64 };

static const char started_path[] = "stats/started";

/* ---- moments */

struct moment {
	enum { MOMENT_NONE, MOMENT_FIXED, MOMENT_CLOCK } kind;
	uint64_t ns;    /* FIXED */
	uint64_t lasts; /* ns that it was told with: a second, a minute, a day; 0 */
	struct tm tm;   /* CLOCK: hours, minutes and seconds */
	bool utc;
};

/* "10m", "1h30m": numbers with units.  False: it is none. */
static bool parse_age(const char *s, uint64_t *ns)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {
		{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', DAY_S }, { 'w', 7 * DAY_S }
	};
	uint64_t sum = 0;

	if (!*s)
		return false;
	while (*s) {
		uint64_t n = 0, seconds = 0;
		size_t digits = strspn(s, "0123456789");

		for (size_t i = 0; i < digits; i++)
			if (__builtin_mul_overflow(n, 10, &n) ||
			    __builtin_add_overflow(n, (uint64_t)(s[i] - '0'), &n))
				return false;
		for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
			if (s[digits] && s[digits] == units[i].unit)
				seconds = units[i].seconds;
		if (!digits || !seconds || __builtin_mul_overflow(n, seconds, &n) ||
		    __builtin_mul_overflow(n, SPEC_NS_PER_S, &n) ||
		    __builtin_add_overflow(sum, n, &sum))
			return false;
		s += digits + 1;
	}
	*ns = sum;
	return true;
}

static bool take_two(const char **s, int max, int *out)
{
	const char *at = *s;

	if (at[0] < '0' || at[0] > '9' || at[1] < '0' || at[1] > '9')
		return false;
	*out = (at[0] - '0') * 10 + (at[1] - '0');
	*s += 2;
	return *out <= max;
}

/* "09:00" or "09:00:30" */
static bool take_clock(const char **s, struct moment *m)
{
	m->lasts = 60 * SPEC_NS_PER_S;
	if (!take_two(s, 23, &m->tm.tm_hour) || *(*s)++ != ':' ||
	    !take_two(s, 59, &m->tm.tm_min))
		return false;
	if (**s != ':')
		return true;
	++*s;
	m->lasts = SPEC_NS_PER_S;
	return take_two(s, 60, &m->tm.tm_sec);
}

/* "2026-11-21" */
static bool take_date(const char **s, struct moment *m)
{
	int century, year;

	if (!take_two(s, 99, &century) || !take_two(s, 99, &year) || *(*s)++ != '-' ||
	    !take_two(s, 12, &m->tm.tm_mon) || *(*s)++ != '-' ||
	    !take_two(s, 31, &m->tm.tm_mday))
		return false;
	m->tm.tm_year = century * 100 + year - 1900;
	m->lasts = DAY_S * SPEC_NS_PER_S;
	return m->tm.tm_mon-- && m->tm.tm_mday;
}

static bool to_ns(const struct moment *m, const struct tm *when, uint64_t *ns)
{
	struct tm tm = *when;
	time_t seconds;

	tm.tm_isdst = -1;
	seconds = m->utc ? timegm(&tm) : mktime(&tm);
	*ns = seconds < 0 ? 0 : (uint64_t)seconds * SPEC_NS_PER_S;
	return seconds >= 0 && tm.tm_mday == when->tm_mday && tm.tm_mon == when->tm_mon;
}

/* What has a date, or the time of a day. */
static bool parse_calendar(const char *s, struct moment *m)
{
	bool dated = strlen(s) > 4 && s[4] == '-';

	if (dated && (!take_date(&s, m) || (*s == 'T' && (s++, !take_clock(&s, m)))))
		return false;
	if (!dated && !take_clock(&s, m))
		return false;
	if (*s == 'Z') {
		m->utc = true;
		s++;
	}
	m->kind = dated ? MOMENT_FIXED : MOMENT_CLOCK;
	return !*s && (!dated || to_ns(m, &m->tm, &m->ns));
}

static bool parse_moment(const char *s, uint64_t now_ns, struct moment *m)
{
	uint64_t age;

	*m = (struct moment){ .kind = MOMENT_NONE };
	if (!*s)
		return true;
	if (*s != '-' && strcmp(s, "now") != 0)
		return parse_calendar(s, m);
	if (!strcmp(s, "now"))
		age = 0;
	else if (!parse_age(s + 1, &age))
		return false;
	m->kind = MOMENT_FIXED;
	m->ns = age < now_ns ? now_ns - age : 0;
	return true;
}

/*
 * The time of a day, on the day that is @days after that of @ns: days are those of the
 * calendar, which may have 23 or 25 hours.
 */
static bool on_day(const struct moment *m, uint64_t ns, int days, uint64_t *out)
{
	time_t seconds = (time_t)(ns / SPEC_NS_PER_S);
	struct tm day, noon;

	if (m->utc)
		gmtime_r(&seconds, &day);
	else
		localtime_r(&seconds, &day);
	noon = (struct tm){ .tm_year = day.tm_year,
			    .tm_mon = day.tm_mon,
			    .tm_mday = day.tm_mday + days,
			    .tm_hour = 12,
			    .tm_isdst = -1 };
	if ((m->utc ? timegm(&noon) : mktime(&noon)) < 0)
		return false;
	noon.tm_hour = m->tm.tm_hour;
	noon.tm_min = m->tm.tm_min;
	noon.tm_sec = m->tm.tm_sec;
	return to_ns(m, &noon, out);
}

/* The last time until @ns that the clock showed it. */
static void last_until(struct moment *m, uint64_t ns)
{
	for (int days = 0; days >= -2; days--)
		if (on_day(m, ns, days, &m->ns) && m->ns <= ns)
			return;
}

/* The first time after @ns. */
static void first_after(struct moment *m, uint64_t ns)
{
	for (int days = 0; days <= 2; days++)
		if (on_day(m, ns, days, &m->ns) && m->ns > ns)
			return;
}

/* ---- spans */

static int no_time(const struct spec_tag *tag, const char *text, struct err *err)
{
	if (tag->id == SPEC_LAST)
		return err_set(err, -EINVAL,
			       "last:%.60s: not an age, as in last:30s, last:5m, "
			       "last:1h30m, last:2d",
			       text);
	return err_set(err, -EINVAL,
		       "time:%.60s: not FROM..TO, as in time:09:00..09:05, "
		       "time:-10m..-5m, time:2026-11-21T09:00..2026-11-21T10:30Z",
		       text);
}

static uint64_t plus(uint64_t ns, uint64_t more)
{
	return ns > UINT64_MAX - more ? UINT64_MAX : ns + more;
}

/* One moment alone. */
static void whole_moment(struct moment *m, uint64_t now_ns, struct spec_span *out)
{
	if (m->kind == MOMENT_CLOCK)
		last_until(m, now_ns);
	*out = (struct spec_span){ m->ns, plus(m->ns, m->lasts ? m->lasts - 1 : 0) };
}

static void from_to(struct moment *from, struct moment *to, uint64_t now_ns,
		    struct spec_span *out)
{
	bool day = to->lasts == DAY_S * SPEC_NS_PER_S;

	if (from->kind == MOMENT_CLOCK)
		last_until(from, now_ns);
	if (to->kind == MOMENT_CLOCK && from->kind == MOMENT_NONE)
		last_until(to, now_ns);
	else if (to->kind == MOMENT_CLOCK)
		first_after(to, from->ns);
	out->from_ns = from->kind == MOMENT_NONE ? 0 : from->ns;
	out->to_ns = to->kind == MOMENT_NONE ? UINT64_MAX
					     : plus(to->ns, day ? to->lasts - 1 : 0);
}

int spec_span_parse(const struct spec_tag *tag, const char *text, uint64_t now_ns,
		    struct spec_span *out, struct err *err)
{
	const char *dots = strstr(text, "..");
	struct moment from, to;
	char first[64];
	uint64_t age;

	if (tag->id == SPEC_LAST) {
		if (!parse_age(text, &age))
			return no_time(tag, text, err);
		*out = (struct spec_span){ age < now_ns ? now_ns - age : 0, UINT64_MAX };
		return 0;
	}
	snprintf(first, sizeof(first), "%.*s", dots ? (int)(dots - text) : 63, text);
	if (strlen(first) != (dots ? (size_t)(dots - text) : strlen(text)) ||
	    (!dots && !*text) || !parse_moment(first, now_ns, &from) ||
	    !parse_moment(dots ? dots + 2 : "", now_ns, &to))
		return no_time(tag, text, err);
	if (dots)
		from_to(&from, &to, now_ns, out);
	else
		whole_moment(&from, now_ns, out);
	if (out->from_ns > out->to_ns)
		return err_set(err, -EINVAL, "time:%.60s ends before it begins", text);
	return 0;
}

/* ---- sessions */

int spec_started_write(int session_fd, uint64_t start_ns, struct err *err)
{
	char text[48];
	int len = snprintf(text, sizeof(text), "%" PRIu64 ".%09" PRIu64 "\n",
			   start_ns / SPEC_NS_PER_S, start_ns % SPEC_NS_PER_S);
	int rc = file_mkdirs(session_fd, "stats", 0755, err);

	return rc ? rc
		  : file_replace(session_fd, started_path, text, (size_t)len, 0644, 0,
				 err);
}

int spec_started_read(int session_fd, uint64_t *start_ns, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	unsigned long long seconds;
	unsigned fraction = 0;
	int rc = file_slurp(session_fd, started_path, MAX_STARTED, &text, err);

	if (rc)
		return rc == -EFBIG ? -EBADMSG : rc;
	/* whole seconds, or all nine digits of a fraction behind them */
	if (sscanf(strbuf_str(&text), "%20llu.%9u", &seconds, &fraction) < 1 ||
	    !seconds || __builtin_mul_overflow(seconds, SPEC_NS_PER_S, start_ns) ||
	    __builtin_add_overflow(*start_ns, fraction, start_ns))
		return err_set(err, -EBADMSG, "%s: holds no time", started_path);
	return 0;
}

int spec_session_span(int session_fd, const char *name, uint64_t now_ns,
		      struct spec_session_span *out, struct err *err)
{
	struct spec_session_span s = { .closed = true };
	struct spec_live live = { 0 };
	int rc = spec_started_read(session_fd, &s.span.from_ns, err);

	if (rc == -ENOENT && spec_clock_parse_name(name, &s.span.from_ns))
		rc = 0;
	rc = rc ? rc : spec_live_read(session_fd, &live, err);
	if (rc)
		return rc == -ENOENT ? -ENODATA : rc;
	s.span.to_ns = live.drained_ns;
	s.closed = live.closed;
	if (!live.closed && now_ns > live.drained_ns &&
	    now_ns - live.drained_ns < FRESH_S * SPEC_NS_PER_S)
		s.span.to_ns = now_ns;
	if (s.span.to_ns < s.span.from_ns) /* the clock was set back */
		s.span.to_ns = s.span.from_ns;
	*out = s;
	return 0;
}

/* ---- for people */

static void show(uint64_t ns, const struct tm *before, struct strbuf *out)
{
	time_t seconds = (time_t)(ns / SPEC_NS_PER_S);
	struct tm tm;
	char zone[16] = "";

	localtime_r(&seconds, &tm);
	if (!before || before->tm_year != tm.tm_year || before->tm_yday != tm.tm_yday)
		strbuf_printf(out, "%04d-%02d-%02d ", tm.tm_year + 1900, tm.tm_mon + 1,
			      tm.tm_mday);
	strbuf_printf(out, "%02d:%02d:%02d", tm.tm_hour, tm.tm_min, tm.tm_sec);
	if (before && strftime(zone, sizeof(zone), "%z", &tm))
		strbuf_printf(out, " %s", zone);
}

void spec_span_show(const struct spec_span *s, struct strbuf *out)
{
	time_t seconds = (time_t)(s->from_ns / SPEC_NS_PER_S);
	struct tm first;

	localtime_r(&seconds, &first);
	show(s->from_ns, NULL, out);
	strbuf_puts(out, " to ");
	show(s->to_ns, &first, out);
}
