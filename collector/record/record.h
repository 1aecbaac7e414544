/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_RECORD_RECORD_H
#define COLLECTOR_RECORD_RECORD_H

/* "opcollect record": one run.  Returns the exit status. */
int coll_record(int argc, char **argv);
/* "opcollect replay": the samples of a saved stream.  Returns the exit status. */
int coll_replay(int argc, char **argv);

#endif
