/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_DAEMON_H
#define COLLECTOR_DAEMON_DAEMON_H

/* "opcollect daemon"; returns the exit status. */
int coll_daemon(int argc, char **argv);
/* "opcollect config": the daemon's options as they would be. */
int coll_daemon_config(int argc, char **argv);

#endif
