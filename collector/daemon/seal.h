/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_SEAL_H
#define COLLECTOR_DAEMON_SEAL_H

#include <stdbool.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "collector/daemon/options.h"
#include "collector/store/recover.h"
#include "collector/store/sink.h"

/*
 * The end of a session of the daemon's.  From its beginning it has a file "settings",
 * lines "KEY VALUE" with what a manifest says that no other file tells; once it is closed
 * for good it gets the manifest.
 */

/* The text of "settings"; @events: as they are sampled, one for each of @o's. */
void coll_seal_settings(const struct coll_options *o,
			const struct coll_sink_event *events, struct strbuf *out);

/* Whether the session is one of the daemon's that has no manifest yet. */
bool coll_seal_due(int samples_fd, const char *name);

/**
 * coll_seal - gives a session its manifest
 * What a killed collector left is completed first: the figures, which are written once a
 * second, follow the sample files; files that are damaged are named in its notes.
 * What the disk refused after it was counted is taken from the figures.
 * @figures: what an earlier try that failed left there, or zeros
 * @lost: receives how many samples these are
 * Reads every byte of the session.  0 or -errno: the disk does not have it.
 */
int coll_seal(int samples_fd, const char *name, struct coll_figures *figures,
	      uint64_t *lost, struct err *err);

#endif
