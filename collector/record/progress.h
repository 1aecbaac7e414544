/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_RECORD_PROGRESS_H
#define COLLECTOR_RECORD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/engine/callgraph.h"
#include "collector/store/session.h"
#include "libspec/session/stats.h"

/* What a person sees on stderr: a line that moves (terminals only), then the result. */
struct coll_progress {
	bool terminal, shown;
	bool saved;                     /* the samples were taken some other time */
	enum coll_callgraph_how stacks; /* how they were recorded */
	uint64_t begun_ns, told_ns;     /* CLOCK_MONOTONIC */
};

void coll_progress_init(struct coll_progress *p, uint64_t now_ns);
/* At most once a second; nothing without a terminal. */
void coll_progress_tell(struct coll_progress *p, const struct spec_stats *s,
			uint64_t now_ns);
/* Takes the line away. */
void coll_progress_end(struct coll_progress *p);

/**
 * coll_progress_result - the last words of a run
 * @left_out: the programs that had the samples --image left out
 * @rate_hz: samples a second and CPU that were asked for; 0: by counts
 */
void coll_progress_result(const struct coll_progress *p,
			  const struct coll_session *session, const struct spec_stats *s,
			  const char *left_out, uint64_t rate_hz, uint64_t now_ns);

#endif
