/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_CLIENT_H
#define COLLECTOR_DAEMON_CLIENT_H

/* Commands for a running daemon, argv[0] being "start", "stop", "dump", "reset",
 * "status", "save", "remove", "deinit" or "shutdown"; and "set".  Return the exit
 * status. */
int coll_client(int argc, char **argv);
int coll_client_set(int argc, char **argv);

#endif
