/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/box/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct look {
	char state; /* the kernel's letter; 0: it has gone */
	uint64_t switches;
};

/* The letter and the counters come from one file, whose list of groups may be long. */
static struct look look_at(pid_t pid)
{
	static const char state[] = "State:";
	static const char counter[] = "voluntary_ctxt_switches:";
	struct look l = { 0 };
	char path[40], line[128];
	CLEANUP(close_file) FILE *f = NULL;
	bool counted = false;

	snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		const char *name = strncmp(line, "non", 3) ? line : line + 3;

		if (!strncmp(line, state, sizeof(state) - 1)) {
			l.state = line[sizeof(state)]; /* behind a tab */
		} else if (!strncmp(name, counter, sizeof(counter) - 1)) {
			l.switches += strtoull(name + sizeof(counter) - 1, NULL, 10);
			counted = true;
		}
	}
	if (!counted || l.state == 'Z' || l.state == 'X')
		l.state = 0;
	return l;
}

uint64_t box_state_look(struct box_state *s, pid_t pid, uint64_t now_ns)
{
	struct look l = look_at(pid);
	/* one that was woken and has no processor yet is an R */
	bool waits = l.state && l.state != 'R';
	uint64_t step = now_ns > s->looked_ns ? now_ns - s->looked_ns : 0;

	if (step > BOX_STATE_MOST_NS)
		step = BOX_STATE_MOST_NS;
	if (!waits || !s->waits)
		step = 0;
	s->all_ns += step;
	if (!step || l.switches != s->switches)
		s->waited_ns = 0;
	else
		s->waited_ns += step;
	s->looked_ns = now_ns;
	s->switches = l.switches;
	s->waits = waits;
	return s->waited_ns;
}
