/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_WATCH_H
#define COLLECTOR_DAEMON_WATCH_H

#include "collector/daemon/sampling.h"

/* Does what is to be done from time to time. */
void daemon_watch(struct daemon *d);

#endif
