/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_BUILD_ID_H
#define OPK_BUILD_ID_H

#include <linux/types.h>

struct inode;

enum { OPK_BUILD_ID = 20 };

/*
 * The build-id of an ELF file, if its headers and notes are in the page cache: nothing
 * is read from a disk or the network.  @inode: the one that has the pages.  Process
 * context. Returns its length in bytes (at most OPK_BUILD_ID, a longer one is cut), or
 * 0.
 */
unsigned int opk_build_id(const struct inode *inode, u8 *id);

#endif
