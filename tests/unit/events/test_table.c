/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "events/table/source.h"
#include "events/table/table.h"
#include "tests/unit/events/text_source.h"

static int load(const char *events, const char *masks, struct ev_table **t,
		struct err *err)
{
	const char *const pairs[] = {
		"a/b/events",
		events,
		"x/y/events",
		"event:0x1 um:far minimum:5 name:FAR : from afar\n",
		"x/y/unit_masks",
		"name:far type:mandatory default:0x0\n\t0x0 none\n",
		"x/loop/events",
		"include:a/b\n",
		masks ? "a/b/unit_masks" : NULL,
		masks,
		NULL,
	};
	struct ev_source from = text_source(pairs);

	return ev_table_load(&from, "a/b", t, err);
}

Test(table, reads_all_of_the_syntax)
{
	static const char events[] = "# a comment\n\n"
				     "event:0x3c counters:0,2 um:m,n minimum:6000 "
				     "name:A-1 : What: it counts\r\n"
				     "event:1b1 counters:cpuid um:one minimum:500 "
				     "default:900 name:B ext:ibs_op"
				     " :  spaces around\n"
				     "include:x/y # and more\n";
	static const char masks[] =
		"include:x/y\n"
		"name:m type:bitmask default:0x3\n"
		"\t0x1 first\n"
		"\t0x2 extra: two second\n"
		"name:n type:bitmask default:0x4\n"
		"   0x4 extra:edge,inv,cmask=1f four counted\n"
		"name:one type:exclusive default:uno\n"
		"\t0x1 extra:config=0xff00000000,config1=7,pebs uno raw\n"
		"\t0x2 other\n";
	struct ev_table *t = NULL;
	struct err err = { 0 };
	const struct ev_def *d;
	const struct ev_mask *m;

	cr_assert_eq(load(events, masks, &t, &err), 0, "%s", err.msg);
	cr_assert_eq(t->defs.len, 3);
	d = ev_table_find(t, "a-1");
	cr_assert(d);
	cr_expect_eq(d->code, 0x3c);
	cr_expect_eq(d->counters, 5);
	cr_expect_eq(d->minimum, 6000);
	cr_expect_str_eq(d->doc, "What: it counts");
	cr_expect_eq(d->masks->all.len, 3);
	cr_expect_eq(ev_masks_default(d->masks, &m), 3);
	cr_expect_null(m);
	m = &d->masks->all.data[2];
	cr_expect_eq(m->extra, EV_EDGE | EV_INV | 0x1f << EV_CMASK_SHIFT);
	cr_expect_eq(ev_mask_number(m), m->extra | 0x400);
	cr_expect_str_eq(m->name, "four");
	cr_expect_str_eq(m->doc, "counted");
	d = ev_table_find(t, "B");
	cr_expect_eq(d->code, 0x1b1);
	cr_expect(d->cpuid_counters);
	cr_expect_eq(d->count, 900);
	cr_expect_str_eq(d->ext, "ibs_op");
	cr_expect_eq(ev_masks_default(d->masks, &m), 1);
	cr_expect(m->raw);
	cr_expect_eq(m->config, 0xff00000000);
	cr_expect_eq(m->config1, 7);
	cr_expect(m->extra & EV_PEBS);
	cr_expect_str_eq(ev_table_find(t, "FAR")->file, "x/y/events");
	cr_expect_null(ev_table_find(t, "NEAR"));
	ev_table_free(t);
}

struct row {
	char events[200], masks[200], why[120];
};

#define HEAD "name:m type:bitmask default:0x3\n"
#define MASKS HEAD "\t0x1 a\n\t0x2 b\n"
#define EVENT "event:0x1 um:m minimum:1 name:A : a\n"

ParameterizedTestParameters(table, tells_file_line_and_cause)
{
	static struct row rows[] = {
		{ "event:0x1 minimum:1 : a\n", "", "a/b/events:1: name: is missing" },
		{ "\n\nminimum:1 name:A : a\n", "", "a/b/events:3: event: is missing" },
		{ "event:0x1 name:A : a\n", "", ":1: minimum: of A is missing" },
		{ "event:0x1 minimum:1 name:A\n", "", ":1: \" : DESCRIPTION\" of A" },
		{ "event:0x1 minimum:1 name:A :  \n", "", ":1: \" : DESCRIPTION\" of A" },
		{ "event:0xg minimum:1 name:A : a\n", "",
		  ":1: event \"0xg\" is not a hex" },
		{ "event:0x minimum:1 name:A : a\n", "",
		  ":1: event \"0x\" is not a hex" },
		{ "event:0x10000000000000000 minimum:1 name:A : a\n", "",
		  "is not a hex" },
		{ "event:1 event:2 minimum:1 name:A : a\n", "",
		  ":1: duplicate tag event:" },
		{ "event:1 minimum:0 name:A : a\n", "",
		  "minimum \"0\" is not a number from" },
		{ "event:1 minimum:-1 name:A : a\n", "",
		  "minimum \"-1\" is not a number" },
		{ "event:1 minimum:5 default:4 name:A : a\n", "",
		  "less than its minimum" },
		{ "event:1 minimum:1 name:A.B : a\n", "",
		  "name \"A.B\": names are made of" },
		{ "event:1 minimum:1 nam:A : a\n", "",
		  ":1: unknown tag nam:; an event has" },
		{ "event:1 minimum: name:A : a\n", "", ":1: minimum: has no value" },
		{ "event:1 minimum:1 name\n", "", ":1: \"name\" is no TAG:VALUE" },
		{ "event:1 counters:0,64 minimum:1 name:A : a\n", "",
		  "counter \"64\" is not" },
		{ "event:1 counters:0,0 minimum:1 name:A : a\n", "", "0 is given twice" },
		{ "event:1 counters:0, minimum:1 name:A : a\n", "",
		  "counter \"\" is not" },
		{ "event:1 um:no minimum:1 name:A : a\n", "",
		  ":1: um: no unit mask \"no\"" },
		{ "event:1 um:m,no minimum:1 name:A : a\n", MASKS,
		  "no unit mask \"no\"" },
		{ EVENT EVENT, MASKS,
		  "a/b/events:2: event A is there already: a/b/events:1" },
		{ "include:x/no\n", "",
		  "a/b/events:1: include: there is no x/no/events" },
		{ "include:../etc\n", "",
		  ":1: include: \"../etc\" is no processor type" },
		{ "include:x/y/z\n", "", ":1: include: \"x/y/z\" is no processor type" },
		{ "include:a/b\n", "", ":1: include: a/b includes itself" },
		{ "include:x/loop\n", "",
		  "x/loop/events:1: include: a/b includes itself" },
		{ "event:1 include:x/y\n", "", ":1: include: stands alone" },
		{ EVENT, "\t0x1 a\n", "a/b/unit_masks:1: a unit mask before any line" },
		{ EVENT, HEAD, "a/b/unit_masks:1: m has no unit masks" },
		{ EVENT, "name:m type:bitmask\n", ":1: default: is missing" },
		{ EVENT, "type:bitmask default:0\n", ":1: name: is missing" },
		{ EVENT, "name:m type:some default:0\n", ":1: type \"some\": there are" },
		{ EVENT, "name:m name:n type:bitmask default:0\n",
		  "duplicate tag name:" },
		{ EVENT, "name:m kind:bitmask default:0\n", "unknown tag kind:; a set" },
		{ EVENT, HEAD "\t0x1 a\n\t0xz b\n",
		  "a/b/unit_masks:3: unit mask \"0xz\"" },
		{ EVENT, HEAD "\t0x1\n", ":2: unit mask 0x1 has no description" },
		{ EVENT, HEAD "\t0x1 a\n\t0x1 b\n",
		  ":3: m: unit mask 0x1 is there already "
		  "(line 2)" },
		{ EVENT, HEAD "\t1 extra: x a\n\t2 extra: X b\n",
		  ":3: m: unit mask name X" },
		{ EVENT, HEAD "\t1 extra: 0x4 a\n",
		  ":2: the unit mask's name 0x4 reads as a number" },
		{ EVENT, HEAD "\t0x1 a\n", ":1: m: its default 0x3 is none of its" },
		{ EVENT, "name:m type:exclusive default:3\n\t1 a\n\t2 b\n",
		  ":1: m: its def" },
		{ EVENT, "name:m type:exclusive default:z\n\t1 a\n",
		  "is called z, its def" },
		{ EVENT, "name:m type:mandatory default:1\n\t1 a\n\t2 b\n",
		  ":1: m is mandatory and has 2 unit masks instead of one" },
		{ EVENT, HEAD "\t1 extra:up x a\n",
		  ":2: extra: \"up\": there are edge, any" },
		{ EVENT, HEAD "\t1 extra:edge,,inv x a\n", ":2: extra: \"\": there are" },
		{ EVENT, HEAD "\t1 extra:cmask=80 x a\n", "cmask \"80\" is not a hex" },
		{ EVENT, HEAD "\t1 extra:edge,config=1 x a\n", ":2: extra: config= and" },
		{ EVENT, HEAD "\t1 extra:config=1 x a\n",
		  ":1: m: unit mask 0x1 with conf" },
		{ EVENT, HEAD "\t100 extra:edge x a\n",
		  ":2: unit mask 0x100: with extra" },
		{ EVENT, HEAD "\t1 extra: a.b a\n", "the unit mask's name \"a.b\"" },
		{ EVENT, MASKS MASKS,
		  ":4: unit mask m is there already: a/b/unit_masks:1" },
		{ EVENT, MASKS "name:n type:mandatory default:1\n\t1 a\n",
		  "a/b/unit_masks:4: unit mask n is of no event" },
	};

	return cr_make_param_array(struct row, rows, sizeof(rows) / sizeof(rows[0]));
}

ParameterizedTest(struct row *row, table, tells_file_line_and_cause)
{
	struct err err = { 0 };
	struct ev_table *t = NULL;

	cr_expect_eq(load(row->events, row->masks, &t, &err), -EINVAL, "%s", row->events);
	cr_expect(strstr(err.msg, row->why), "%s instead of %s", err.msg, row->why);
	cr_expect_null(t);
}

Test(table, has_a_bound_on_includes)
{
	static const char *pairs[2 * 12 + 1];
	static char texts[12][2][32];
	struct ev_source from = text_source(pairs);
	struct ev_table *t = NULL;
	struct err err = { 0 };

	for (int i = 0; i < 12; i++) {
		snprintf(texts[i][0], 32, "a/%c/events", 'a' + i);
		snprintf(texts[i][1], 32, "include:a/%c\n", 'b' + i);
		pairs[2 * i] = texts[i][0];
		pairs[2 * i + 1] = texts[i][1];
	}
	cr_expect_eq(ev_table_load(&from, "a/a", &t, &err), -EINVAL);
	cr_expect(strstr(err.msg, "more than 7 files include each other"), "%s", err.msg);
}

Test(table, has_a_bound_on_unit_masks)
{
	struct strbuf masks = { 0 };
	struct ev_table *t = NULL;
	struct err err = { 0 };

	strbuf_puts(&masks, "name:m type:exclusive default:0\n");
	for (int i = 0; i <= 1024; i++)
		strbuf_printf(&masks, "\t0x%x mask\n", i);
	cr_expect_eq(load(EVENT, strbuf_str(&masks), &t, &err), -EINVAL);
	cr_expect(strstr(err.msg, "a/b/unit_masks:1026: m has more than 1024"), "%s",
		  err.msg);
	strbuf_fini(&masks);
}

Test(table, says_when_there_is_none)
{
	struct ev_table *t = NULL;
	struct err err = { 0 };

	cr_expect_eq(ev_table_load(&ev_installed, "no/such", &t, &err), -ENOENT);
	cr_expect(strstr(err.msg, "no table of events for \"no/such\""), "%s", err.msg);
	cr_expect_eq(ev_table_load(&ev_installed, "../etc", &t, &err), -ENOENT);
	cr_expect_eq(ev_table_load(&ev_installed, "a/", &t, &err), -ENOENT);
	cr_expect_eq(ev_table_load(&ev_installed, ".", &t, &err), -ENOENT);
}
