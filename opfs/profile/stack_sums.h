/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_STACK_SUMS_H
#define OPFS_PROFILE_STACK_SUMS_H

#include "opfs/profile/stacks.h"

/* What samples of some stacks there are below each frame. */
struct stack_sums {
	const struct profile_stacks *s;
	uint64_t *below;   /* of each frame; 0 between calls */
	uint32_t *touched; /* room for all */
	uint8_t *seen;
};
int stack_sums_init(struct stack_sums *t,
		    const struct profile_stacks *s); /* or -ENOMEM */
void stack_sums_fini(struct stack_sums *t);
/**
 * stack_sums_each - visits the frames of stacks [@first, @end), innermost first
 * @visit: gets the frame's index and the samples in it and below it; what it returns
 *	unless 0 ends the walk and is returned
 */
int stack_sums_each(struct stack_sums *t, size_t first, size_t end,
		    int (*visit)(void *ctx, uint32_t frame, uint64_t samples), void *ctx);

/* One past the last stack whose file is of the same application and class as that of
 * stack @first; *file is one of these files. */
size_t profile_stacks_end(const struct profile_stacks *s, size_t first,
			  const struct profile_stack_file **file);

#endif
