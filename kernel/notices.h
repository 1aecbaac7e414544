/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_NOTICES_H
#define OPK_NOTICES_H

/*
 * Puts into the stream which modules the kernel loads and removes, and which tasks exit.
 */
int opk_notices_init(void);
void opk_notices_exit(void);

/* A run: tasks are watched only then. */
void opk_notices_begin(void);
void opk_notices_end(void);

#endif
