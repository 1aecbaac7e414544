/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "opfs/session/spans.h"
#include "tests/unit/opfs/sessions.h"

enum { SESSIONS = 40 };

static struct sessions disk;
static struct spans *spans;

static void name_of(int i, char *name, size_t size)
{
	snprintf(name, size, "2026-11-21T09-00-%02dZ", i);
}

static void write_times(int i, const char *state, int started_s)
{
	char name[32], path[96], text[64];

	name_of(i, name, sizeof(name));
	snprintf(path, sizeof(path), "samples/%s/stats/started", name);
	snprintf(text, sizeof(text), "%d\n", started_s);
	sessions_write(&disk, path, text);
	snprintf(path, sizeof(path), "samples/%s/stats/live", name);
	snprintf(text, sizeof(text), "1 %d000000000 %s\n", started_s + 1, state);
	sessions_write(&disk, path, text);
}

static void setup(void)
{
	sessions_init(&disk);
	for (int i = 0; i < SESSIONS; i++) {
		char name[32];

		name_of(i, name, sizeof(name));
		sessions_add(&disk,
			     (struct sessions_file){ .session = name, .samples = 1 });
		write_times(i, i ? "closed" : "live", 1000 + i);
	}
	spans = spans_new(disk.fd, NULL);
	cr_assert(spans);
}

static void teardown(void)
{
	spans_free(spans);
	sessions_fini(&disk);
}

TestSuite(spans, .init = setup, .fini = teardown);

static void get(struct spans_list *out)
{
	struct err err = { 0 };

	cr_assert_eq(spans_get(spans, clock_real_ns(), true, false, out, &err), 0, "%s",
		     err.msg);
}

/* A session that came makes the list be made anew; what closed sessions say is not read
 * for it: here they say something else by now. */
Test(spans, of_closed_sessions_are_read_once_whatever_comes)
{
	struct spans_list l;
	unsigned anew = 0;

	get(&l);
	cr_assert_eq(l.nr, SESSIONS);
	spans_list_fini(&l);
	for (int i = 0; i < SESSIONS; i++)
		write_times(i, "closed", 5000 + i);
	sessions_add(&disk, (struct sessions_file){ .session = "new", .samples = 1 });
	get(&l);
	cr_assert_eq(l.nr, SESSIONS + 1);
	for (size_t i = 0; i < l.nr; i++)
		anew += l.rows[i].dated &&
			l.rows[i].when.span.from_ns >= 5000 * CLOCK_NS_PER_S;
	cr_expect_eq(anew, 1); /* the one that went on */
	spans_list_fini(&l);
}
