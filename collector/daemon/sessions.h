/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_DAEMON_SESSIONS_H
#define COLLECTOR_DAEMON_SESSIONS_H

/*
 * The commands that look after the sessions of a directory.  They need no daemon, and do
 * not disturb one that writes there: what is being written is left alone.
 */
int coll_sessions_list(int argc, char **argv);
int coll_sessions_rename(int argc, char **argv);
int coll_sessions_remove(int argc, char **argv);

#endif
