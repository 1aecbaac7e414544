/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SRC_REPLAY_H
#define COLLECTOR_SRC_REPLAY_H

#include "collector/source.h"
#include "collector/stream.h"

/* A saved stream of the driver's event buffer. */
struct coll_replay_options {
	const char *file; /* "-": standard input */
	/* as struct coll_stream's: which event a counter of the stream is */
	int (*counter)(void *ctx, const struct coll_counter *c);
	void *ctx;
};

/* 0, or -errno if the file cannot be read. */
int coll_replay_new(const struct coll_replay_options *opt, struct coll_source **out,
		    struct err *err);

#endif
