/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_COMMANDS_H
#define COLLECTOR_DAEMON_COMMANDS_H

#include "collector/daemon/sampling.h"

/* What the daemon can be told: a coll_control_do.  0 or -errno, and what to answer. */
int daemon_do(void *ctx, const struct coll_packet *request, struct strbuf *answer,
	      struct err *err);

/* The end of "save": a coll_control_then.  It waits for the keeper, but not for ever. */
int daemon_saved(void *ctx, const char *name, uint64_t waited_ns, struct strbuf *answer,
		 struct err *err);

#endif
