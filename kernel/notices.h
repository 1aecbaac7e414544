/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_NOTICES_H
#define OPK_NOTICES_H

/* Tells the stream what happens to the kernel's modules, and which tasks go. */
int opk_notices_init(void);
void opk_notices_exit(void);

/* A run: only then tasks are watched. */
void opk_notices_begin(void);
void opk_notices_end(void);

#endif
