/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_MOUNT_H
#define OPFS_MOUNT_MOUNT_H

#include "opfs/report/report.h"

/**
 * opfs_mount_main - "opfs mount [SESSION_DIR] MOUNTPOINT [-o OPTIONS] [-f]"
 * @reports: the files that directories have
 * @argv: argv[0] is the (sub)command, the rest its options and operands; the words of
 *	mount(8), "opfs SESSION_DIR MOUNTPOINT -o OPTIONS", are read in the same way
 * Returns when the mount is ready (it goes on in the background), or with -f when it
 * has ended: the exit status, 0 done, 1 failed, 2 wrong usage.
 */
int opfs_mount_main(const struct report_set *reports, int argc, char **argv);

#endif
