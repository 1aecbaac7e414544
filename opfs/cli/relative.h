/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_RELATIVE_H
#define OPFS_CLI_RELATIVE_H

/**
 * cli_relative - a path in which values of image tags are paths from the root
 * What begins as "image:./prog" or "image:prog/../x" and is a file, seen from the current
 * directory, becomes that file's real path in one component; all else stays as it is.
 * Only a command knows in which directory it was typed: the mount does not do this.
 * Returns a text to free(), or NULL if out of memory.
 */
char *cli_relative(const char *path);

#endif
