/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_LOG_H
#define COLLECTOR_DAEMON_LOG_H

#include "base/err.h"
#include "collector/daemon/options.h"

/* Journal, file, and the service manager. */

/* Before and after it went into the background.  0 or -errno. */
int daemon_log_open(const struct coll_daemon_options *o, struct err *err);
/* The file may have been moved away. */
void daemon_log_reopen(void);
/* "READY=1", "STOPPING=1", ...; nothing if no service manager asks. */
void daemon_notify(const char *state);

#endif
