/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_CLIENT_H
#define COLLECTOR_CLIENT_H

/* Commands for a running daemon: "opcollect start", ...  Return the exit status. */
int coll_client_start(int argc, char **argv);
int coll_client_stop(int argc, char **argv);
int coll_client_dump(int argc, char **argv);
int coll_client_reset(int argc, char **argv);
int coll_client_status(int argc, char **argv);
int coll_client_save(int argc, char **argv);
int coll_client_remove(int argc, char **argv);
int coll_client_deinit(int argc, char **argv);
int coll_client_shutdown(int argc, char **argv);
int coll_client_set(int argc, char **argv);

#endif
