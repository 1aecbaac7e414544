/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_STATUS_H
#define COLLECTOR_DAEMON_STATUS_H

#include <stdbool.h>

#include "collector/daemon/sampling.h"

/* Appends what "opcollect status" prints. */
void daemon_status(struct daemon *d, bool json, struct strbuf *out);
/* Tells the service manager, in one line. */
/* Appends what is sampled and how, a fact a line as daemon_status() has it. */
void daemon_settings(const struct daemon *d, struct strbuf *out);
void daemon_notify_status(const struct daemon *d);

#endif
