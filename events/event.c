/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/event.h"

#include <ctype.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"

enum flags { NONE = 0, TIME = 1, CYCLES = 2 };
enum { MAX_NAME = 48, MAX_SUGGESTIONS = 3 };

static const struct ev_event events[] = {
#define EVENT(name_, kind_type_config, ...) EVENT_ROW(name_, kind_type_config, __VA_ARGS__)
#define EVENT_ROW(name_, kind_, type_, config_, count_, flags_, doc_)                    \
	{ .name = (name_),                                                               \
	  .doc = (doc_),                                                                 \
	  .kind = (kind_),                                                               \
	  .perf_type = (type_),                                                          \
	  .perf_config = (config_),                                                      \
	  .default_count = (count_),                                                     \
	  .is_time = (flags_) == TIME,                                                   \
	  .is_cycles = (flags_) == CYCLES },
#include "events/event_list.h"
#undef EVENT_ROW
#undef EVENT
};

enum { NR_EVENTS = sizeof(events) / sizeof(events[0]) };

const struct ev_event *ev_event_at(size_t i)
{
	return i < NR_EVENTS ? &events[i] : NULL;
}

/* rNNN, as perf writes the code of an event that has no name. */
static bool find_raw(const char *name, struct ev_event *out, char room[32])
{
	size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");

	if (name[0] != 'r' || !digits || digits > 16 || name[1 + digits])
		return false;
	*out = (struct ev_event){
		.name = room,
		.doc = "raw event code",
		.kind = EV_HARDWARE,
		.perf_type = PERF_TYPE_RAW,
		.perf_config = strtoull(name + 1, NULL, 16),
		.default_count = 100000,
		.raw = true,
	};
	snprintf(room, 32, "r%llx", (unsigned long long)out->perf_config);
	return true;
}

bool ev_event_find(const char *name, struct ev_event *out, char name_room[32])
{
	const struct ev_event *near = NULL;

	for (size_t i = 0; i < NR_EVENTS; i++) {
		if (!strcmp(events[i].name, name)) {
			*out = events[i];
			return true;
		}
		if (!near && !strcasecmp(events[i].name, name))
			near = &events[i];
	}
	if (near)
		*out = *near;
	return near || find_raw(name, out, name_room);
}

/* One value of the edit distance's next row. */
static int cheapest(const int *above, int left, int j, bool same)
{
	int best = above[j] + !same;

	if (above[j + 1] + 1 < best)
		best = above[j + 1] + 1;
	return left + 1 < best ? left + 1 : best;
}

/* How many letters must be changed, added or left out; case and - _ do not count. */
static int distance(const char *a, const char *b)
{
	int rows[2][MAX_NAME + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > MAX_NAME || lb > MAX_NAME)
		return MAX_NAME;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (int)j;
	for (size_t i = 0; i < la; i++) {
		int *above = rows[i & 1], *row = rows[(i + 1) & 1];
		int ca = a[i] == '_' ? '-' : tolower((unsigned char)a[i]);

		row[0] = (int)i + 1;
		for (size_t j = 0; j < lb; j++) {
			int cb = b[j] == '_' ? '-' : tolower((unsigned char)b[j]);

			row[j + 1] = cheapest(above, row[j], (int)j, ca == cb);
		}
	}
	return rows[la & 1][lb];
}

/* A third of the letters may be wrong; a part of a name counts as one mistake. */
static int badness(const char *name, const char *candidate)
{
	int d = distance(name, candidate);

	if (strlen(name) >= 3 && strcasestr(candidate, name))
		return 1;
	return d <= (int)(strlen(name) + 2) / 3 ? d : MAX_NAME;
}

void ev_event_suggest(const char *name, struct strbuf *out)
{
	const char *found[MAX_SUGGESTIONS];
	int nr = 0;

	for (int want = 0; want < MAX_NAME && nr < MAX_SUGGESTIONS; want++)
		for (size_t i = 0; i < NR_EVENTS && nr < MAX_SUGGESTIONS; i++)
			if (badness(name, events[i].name) == want)
				found[nr++] = events[i].name;
	if (!nr)
		return;
	strbuf_puts(out, "did you mean ");
	for (int i = 0; i < nr; i++)
		strbuf_printf(out, "%s%s", i ? (i + 1 == nr ? " or " : ", ") : "",
			      found[i]);
	strbuf_putc(out, '?');
}
