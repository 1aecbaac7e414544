/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/name/clock.h"

#include <string.h>
#include <time.h>

/* YYYY-MM-DDThh?mm?ss, where ? is @between. */
static void add_time(uint64_t ns, char between, struct strbuf *out)
{
	time_t seconds = (time_t)(ns / SPEC_NS_PER_S);
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strbuf_printf(out, "%04d-%02d-%02dT%02d%c%02d%c%02d", tm.tm_year + 1900,
		      tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, between, tm.tm_min, between,
		      tm.tm_sec);
}

void spec_clock_utc(uint64_t ns, struct strbuf *out)
{
	add_time(ns, ':', out);
	if (ns % SPEC_NS_PER_S)
		strbuf_printf(out, ".%09u", (unsigned)(ns % SPEC_NS_PER_S));
	strbuf_putc(out, 'Z');
}

void spec_clock_name(uint64_t ns, struct strbuf *out)
{
	add_time(ns, '-', out);
	strbuf_putc(out, 'Z');
}

/* @n digits at *s. */
static bool take_number(const char **s, int n, int *out)
{
	*out = 0;
	for (; n; n--, ++*s) {
		if (**s < '0' || **s > '9')
			return false;
		*out = *out * 10 + (**s - '0');
	}
	return true;
}

static bool take_char(const char **s, char c)
{
	return **s == c && *(*s)++;
}

/* What add_time() adds. */
static bool take_time(const char **s, char between, uint64_t *ns)
{
	struct tm tm = { 0 }, same;
	time_t seconds;

	if (!take_number(s, 4, &tm.tm_year) || !take_char(s, '-') ||
	    !take_number(s, 2, &tm.tm_mon) || !take_char(s, '-') ||
	    !take_number(s, 2, &tm.tm_mday) || !take_char(s, 'T') ||
	    !take_number(s, 2, &tm.tm_hour) || !take_char(s, between) ||
	    !take_number(s, 2, &tm.tm_min) || !take_char(s, between) ||
	    !take_number(s, 2, &tm.tm_sec))
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	same = tm;
	seconds = timegm(&same);
	*ns = (uint64_t)seconds * SPEC_NS_PER_S;
	return seconds >= 0 && same.tm_mday == tm.tm_mday && same.tm_mon == tm.tm_mon &&
	       same.tm_hour == tm.tm_hour && same.tm_min == tm.tm_min;
}

bool spec_clock_parse_utc(const char *text, uint64_t *ns)
{
	int fraction = 0;

	if (!take_time(&text, ':', ns))
		return false;
	if (take_char(&text, '.') && !take_number(&text, 9, &fraction))
		return false;
	*ns += (uint64_t)fraction;
	return !strcmp(text, "Z");
}

bool spec_clock_parse_name(const char *name, uint64_t *ns)
{
	if (!take_time(&name, '-', ns) || !take_char(&name, 'Z'))
		return false;
	if (!*name)
		return true;
	return take_char(&name, '-') && *name && !name[strspn(name, "0123456789")];
}
