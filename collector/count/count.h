/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_COUNT_COUNT_H
#define COLLECTOR_COUNT_COUNT_H

/* "opcollect count": how often events happen.  Returns the exit status. */
int coll_count(int argc, char **argv);

#endif
