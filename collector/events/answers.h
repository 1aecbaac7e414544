/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_EVENTS_ANSWERS_H
#define COLLECTOR_EVENTS_ANSWERS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "collector/events/formats.h"

/* What "opcollect events" can be asked, besides for the list: what ophelp answers, and
 * the forms of the list. */
struct coll_answer {
	const char *option; /* its long name; NULL ends the table */
	/* Appends the whole output.  Either of them: */
	void (*list)(const struct coll_events *e, struct strbuf *out);
	/* 0, or -errno with a message. */
	int (*answer)(const struct coll_events *e, struct strbuf *out, struct err *err);
	bool of_given;  /* of the events that are given, at least one; raw codes, too */
	bool of_events; /* of these or all; neither: of none */
};

extern const struct coll_answer coll_answers[];

/* The name of the event that is sampled by default, NULL: there is none. */
const char *coll_events_default(const struct coll_events *e);

#endif
