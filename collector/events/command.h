/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_EVENTS_COMMAND_H
#define COLLECTOR_EVENTS_COMMAND_H

/* "opcollect events": what can be sampled.  Returns the exit status. */
int coll_events(int argc, char **argv);

#endif
