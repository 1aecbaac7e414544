/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_RECURSION_H
#define OPFS_PROFILE_RECURSION_H

#include "opfs/profile/stacks.h"

/**
 * recursion_find - finds the frames whose function is among their callers already
 * @of_func: what each function of @s counts as: less than @nr
 * @again: gets 1 for such a frame, 0 for others; room for all frames
 * Takes as long as there are frames, however deep stacks are.  0 or -ENOMEM.
 */
int recursion_find(const struct profile_stacks *s, const uint32_t *of_func, size_t nr,
		   uint8_t *again);

#endif
