/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_JIT_H
#define OPFS_PROFILE_JIT_H

#include "opfs/profile/build.h"

/*
 * Code made at run time, by the names that sessions keep of it (libspec/jit/jit_file.h),
 * and by the .jo files of OProfile.
 */

/**
 * profile_load_jit - gives memory without a file its names
 * Images of it that have some get a table of symbols, and SPEC_MATCH_JIT as their only
 * name.  Only who may know where memory was gets any.
 * 0 or -ENOMEM.
 */
int profile_load_jit(struct profile_build *b);

#endif
