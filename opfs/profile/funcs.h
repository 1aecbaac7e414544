/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_FUNCS_H
#define OPFS_PROFILE_FUNCS_H

#include "opfs/profile/build.h"

/**
 * profile_find_funcs - finds the functions of all frames in the stacks of a profile
 * Once its symbols are loaded.  Names are still mangled then.
 * Returns 0 or -ENOMEM.
 */
int profile_find_funcs(struct profile_build *b);

#endif
