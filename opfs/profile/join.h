/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_JOIN_H
#define OPFS_PROFILE_JOIN_H

#include "opfs/profile/build.h"

/**
 * profile_join_jit - with merge:lib, code that processes make at run time is one image
 * Rows of it that have the same name become one, and so do the calls between them.
 * Places in it (PROFILE_HITS) are each process's own, so nothing is joined then.
 * After profile_name_rows().  0 or -ENOMEM.
 */
int profile_join_jit(struct profile_build *b);

#endif
