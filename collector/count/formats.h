/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_COUNT_FORMATS_H
#define COLLECTOR_COUNT_FORMATS_H

#include "base/json.h"
#include "base/strbuf.h"
#include "collector/count/tally.h"

/* What "opcollect count" prints. */

struct coll_count_sheet {
	const struct coll_tally *tally;
	const char *of; /* what was counted: "command", "processes", "threads", "cpus" */
	char **command; /* NULL: none */
	const char *by; /* "cpu" or "thread": places have rows of their own; NULL: not */
	bool intervals;
	struct json json; /* of the format that is JSON: what was written last */
};

/* Of the counts: from when to when, since counting began, and what the clock says. */
struct coll_count_time {
	uint64_t begin_ns, end_ns, real_ns;
};

/* The parts of an output, in their order; each adds to @out. */
struct coll_count_format {
	void (*begin)(struct coll_count_sheet *s, struct strbuf *out);
	/* What the tally holds now: once, or of each interval. */
	void (*counts)(struct coll_count_sheet *s, const struct coll_count_time *t,
		       struct strbuf *out);
	void (*end)(struct coll_count_sheet *s, uint64_t elapsed_ns, struct strbuf *out);
};

extern const struct coll_count_format coll_count_text;  /* for people */
extern const struct coll_count_format coll_count_brief; /* as ocount -b */
extern const struct coll_count_format coll_count_json;  /* doc/count.schema.json */

#endif
