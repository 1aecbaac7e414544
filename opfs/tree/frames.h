/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_FRAMES_H
#define OPFS_TREE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "libspec/spec/spec.h"
#include "opfs/profile/profile.h"

/* Which stacks the tags calls:, callers: and through: choose. */

/* Has a specification one of them? */
bool tree_has_frames(const struct spec *spec);
/* Appends their values to a key. */
void tree_frames_key(const struct spec *spec, struct strbuf *key);

/**
 * tree_frames_choose - finds the stacks that all of them choose
 * @p: with stacks
 * @names: the same with names as sources have them, whatever demangle: says
 * @keep: one of each stack of @p is set to 1 or 0
 * @samples: receives the samples of those that are kept
 * A function is called by its name as it is shown, as sources have it, mangled, or as it
 * is listed; code without a symbol also by its row's.  Returns 0 or -ENOMEM.
 */
int tree_frames_choose(const struct spec *spec, const struct profile *p,
		       const struct profile *names, uint8_t *keep, uint64_t *samples);

/**
 * tree_frames_after - finds what comes after the functions of one value
 * @tag: calls:, callers: or through:
 * @keep: one of each stack of @p is set to 1 or 0, as tree_frames_choose() does
 * @skips: of each frame of @p: 0 if it comes after them in a stack that is kept, not with
 *	callers:, where as many come first as the value has functions
 * Returns 0 or -ENOMEM.
 */
int tree_frames_after(const struct spec_tag *tag, const struct spec_value *v,
		      const struct profile *p, const struct profile *names, uint8_t *keep,
		      uint8_t *skips);

#endif
