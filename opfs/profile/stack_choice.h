/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_STACK_CHOICE_H
#define OPFS_PROFILE_STACK_CHOICE_H

#include "base/map.h"
#include "opfs/profile/stacks.h"

/* Which stacks of a profile are of samples in its rows: of a filtered one, not all. */
struct stack_choice {
	const struct profile *p;
	struct map rows; /* of a filtered profile */
};

/* @p: with stacks; outlives @c.  0 or -ENOMEM. */
int stack_choice_init(struct stack_choice *c, const struct profile *p);
bool stack_choice_has(const struct stack_choice *c, const struct profile_stack *s);
void stack_choice_fini(struct stack_choice *c); /* accepts a zeroed one */

#endif
