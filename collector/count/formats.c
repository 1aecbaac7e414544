/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/count/formats.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static const struct coll_event *event_at(const struct coll_count_sheet *s, size_t i)
{
	return &s->tally->events->data[i].event;
}

static const char *label_at(const struct coll_count_sheet *s, size_t i)
{
	return s->tally->events->data[i].label;
}

static double seconds(uint64_t ns)
{
	return (double)ns / (double)CLOCK_NS_PER_S;
}

/* ---- for people */

enum { COUNT_WIDTH = 20, NUMBER_ROOM = 32 };

static const char *unit(const struct coll_event *e)
{
	return e->spec.event.is_time ? " (ns)" : "";
}

static int label_width(const struct coll_count_sheet *s)
{
	size_t width = strlen("event");

	for (size_t i = 0; i < s->tally->events->len; i++) {
		size_t len = strlen(label_at(s, i)) + strlen(unit(event_at(s, i)));

		width = len > width ? len : width;
	}
	return (int)width;
}

/* "1,234,567" */
static void group_digits(uint64_t n, char out[NUMBER_ROOM])
{
	char digits[NUMBER_ROOM];
	int len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (int i = 0; i < len; i++) {
		if (i && !((len - i) % 3))
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
}

static void text_begin(struct coll_count_sheet *s, struct strbuf *out)
{
	if (s->intervals)
		strbuf_printf(out, "%12s  ", "seconds");
	strbuf_printf(out, "%-*s  ", label_width(s), "event");
	if (s->by)
		strbuf_printf(out, "%-10s  ", s->by);
	strbuf_printf(out, "%*s  %10s\n", COUNT_WIDTH, "count", "counted");
}

static void text_row(const struct coll_count_sheet *s, const struct coll_count_time *t,
		     size_t event, const char *place, const struct coll_count *c,
		     struct strbuf *out)
{
	const char *what = unit(event_at(s, event));
	char number[NUMBER_ROOM] = "not counted";

	if (!coll_count_missing(c))
		group_digits(c->count, number);
	if (s->intervals)
		strbuf_printf(out, "%12.3f  ", seconds(t->end_ns));
	strbuf_printf(out, "%s%-*s  ", label_at(s, event),
		      label_width(s) - (int)strlen(label_at(s, event)), what);
	if (place)
		strbuf_printf(out, "%-10s  ", place);
	strbuf_printf(out, "%*s  %8.2f %%\n", COUNT_WIDTH, number, coll_count_percent(c));
}

static void text_counts(struct coll_count_sheet *s, const struct coll_count_time *t,
			struct strbuf *out)
{
	for (size_t e = 0; e < s->tally->events->len; e++) {
		struct coll_count total = coll_tally_total(s->tally, e);
		char place[NUMBER_ROOM];

		for (size_t p = 0; s->by && p < s->tally->places.len; p++) {
			snprintf(place, sizeof(place), "%" PRIu32,
				 s->tally->places.data[p]);
			text_row(s, t, e, place, coll_tally_at(s->tally, e, p), out);
		}
		text_row(s, t, e, s->by ? "all" : NULL, &total, out);
	}
}

static void text_end(struct coll_count_sheet *s, uint64_t elapsed_ns, struct strbuf *out)
{
	if (!s->intervals)
		strbuf_printf(out, "\n%.6f seconds elapsed\n", seconds(elapsed_ns));
}

const struct coll_count_format coll_count_text = {
	.begin = text_begin,
	.counts = text_counts,
	.end = text_end,
};

/* ---- ocount's format for scripts: [PLACE,]EVENT,COUNT,PERCENT */

static void brief_begin(struct coll_count_sheet *s, struct strbuf *out)
{
	(void)s;
	(void)out;
}

static void brief_row(const char *label, const struct coll_count *c, struct strbuf *out)
{
	strbuf_printf(out, "%s,%" PRIu64 ",%.2f\n", label, c->count,
		      coll_count_percent(c));
}

static void brief_counts(struct coll_count_sheet *s, const struct coll_count_time *t,
			 struct strbuf *out)
{
	if (s->intervals)
		strbuf_printf(out, "timestamp,%llu.%03llu\n", t->real_ns / CLOCK_NS_PER_S,
			      t->real_ns % CLOCK_NS_PER_S / CLOCK_NS_PER_MS);
	for (size_t e = 0; e < s->tally->events->len; e++) {
		struct coll_count total = coll_tally_total(s->tally, e);

		if (!s->by)
			brief_row(label_at(s, e), &total, out);
		for (size_t p = 0; s->by && p < s->tally->places.len; p++) {
			strbuf_printf(out, "%" PRIu32 ",", s->tally->places.data[p]);
			brief_row(label_at(s, e), coll_tally_at(s->tally, e, p), out);
		}
	}
}

static void brief_end(struct coll_count_sheet *s, uint64_t elapsed_ns, struct strbuf *out)
{
	(void)s;
	(void)elapsed_ns;
	(void)out;
}

const struct coll_count_format coll_count_brief = {
	.begin = brief_begin,
	.counts = brief_counts,
	.end = brief_end,
};

/* ---- JSON: doc/count.schema.json */

static void json_event(struct json *j, const struct coll_counted *c)
{
	const struct coll_event *e = &c->event;

	json_line(j);
	json_open(j, '{');
	json_text(j, "label", c->label);
	json_text(j, "name", e->spec.event.name);
	json_count(j, "unit_mask", e->spec.unit_mask);
	json_flag(j, "kernel", e->spec.kernel && !e->user_only);
	json_flag(j, "user", e->spec.user);
	json_text(j, "unit", e->spec.event.is_time ? "ns" : NULL);
	json_close(j, '}');
}

static void json_begin(struct coll_count_sheet *s, struct strbuf *out)
{
	struct json *j = &s->json;

	*j = (struct json){ .out = out };
	json_open(j, '{');
	json_text(j, "format", "opcollect count");
	json_count(j, "version", 1);
	json_text(j, "of", s->of);
	json_key(j, "command");
	if (s->command) {
		json_open(j, '[');
		for (char **word = s->command; *word; word++)
			json_string(j, *word);
		json_close(j, ']');
	} else {
		json_null(j);
	}
	json_text(j, "separate", s->by);
	json_key(j, "events");
	json_open(j, '[');
	vec_for(s->tally->events, e)
		json_event(j, e);
	json_close(j, ']');
	json_key(j, "intervals");
	json_open(j, '[');
}

/* @place NULL: of all. */
static void json_row(const struct coll_count_sheet *s, struct json *j, size_t event,
		     const uint32_t *place, const struct coll_count *c)
{
	json_line(j);
	json_open(j, '{');
	json_text(j, "event", label_at(s, event));
	if (place)
		json_count(j, s->by, *place);
	json_key(j, "count");
	if (coll_count_missing(c))
		json_null(j);
	else
		json_number(j, c->count);
	json_count(j, "raw", c->raw);
	json_count(j, "enabled_ns", c->enabled);
	json_count(j, "running_ns", c->running);
	json_close(j, '}');
}

static void json_counts(struct coll_count_sheet *s, const struct coll_count_time *t,
			struct strbuf *out)
{
	struct json *j = &s->json;

	j->out = out;
	json_line(j);
	json_open(j, '{');
	json_count(j, "begin_ns", t->begin_ns);
	json_count(j, "end_ns", t->end_ns);
	json_count(j, "clock_ns", t->real_ns);
	json_key(j, "counts");
	json_open(j, '[');
	for (size_t e = 0; e < s->tally->events->len; e++) {
		struct coll_count total = coll_tally_total(s->tally, e);

		for (size_t p = 0; s->by && p < s->tally->places.len; p++)
			json_row(s, j, e, &s->tally->places.data[p],
				 coll_tally_at(s->tally, e, p));
		json_row(s, j, e, NULL, &total);
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void json_end(struct coll_count_sheet *s, uint64_t elapsed_ns, struct strbuf *out)
{
	struct json *j = &s->json;

	j->out = out;
	json_close(j, ']');
	json_count(j, "elapsed_ns", elapsed_ns);
	json_close(j, '}');
	strbuf_putc(out, '\n');
}

const struct coll_count_format coll_count_json = {
	.begin = json_begin,
	.counts = json_counts,
	.end = json_end,
};
