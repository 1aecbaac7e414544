/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_COUNT_OPTIONS_H
#define COLLECTOR_COUNT_OPTIONS_H

#include "base/ids.h"
#include "base/opt.h"
#include "collector/count/formats.h"
#include "collector/count/tally.h"

/* What "opcollect count" was asked to do. */
struct coll_count_options {
	struct coll_counted_events events; /* in the order given */
	struct ids pids, tids, cpus;
	bool all, by_cpu, by_thread;
	uint64_t interval_ns; /* 0: one count at the end */
	uint64_t times;       /* of intervals; 0: until the end */
	const struct coll_count_format *format;
	const char *output; /* NULL: standard output */
	char **command;     /* NULL: none */
};

/**
 * coll_count_options_parse - reads the words of "opcollect count"
 * @argv: borrowed by @out as long as that is used
 * Returns OPT_RUN, OPT_DONE or OPT_WRONG, having said what is wrong.
 */
enum opt_result coll_count_options_parse(int argc, char **argv,
					 struct coll_count_options *out);
void coll_count_options_fini(struct coll_count_options *o);

#endif
