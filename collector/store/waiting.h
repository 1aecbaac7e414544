/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_WAITING_H
#define COLLECTOR_STORE_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collector/store/sink.h"
#include "collector/store/stack.h"

/*
 * What was counted under images that are pending, until it is known which they are: it is
 * added up as in a sample file, so that a hot loop takes no more room than one place.
 */
struct coll_count {
	uint64_t weight;  /* what goes into the sample file */
	uint64_t samples; /* how many samples that accounts for, */
	uint64_t hits;    /* and derived events of extended samples */
};

/* A frame below its caller: one of those that equal stacks share. */
struct coll_waiting_frame {
	uint32_t caller; /* index + 1; 0: none */
	struct coll_frame frame;
};

struct coll_waiting_row {
	struct coll_key key;
	uint64_t at;
	uint32_t frame; /* of its stack the sampled one: index + 1; 0: without a stack */
	struct coll_count count;
};

struct coll_waiting {
	struct map by_place; /* with its stack -> index in rows */
	VEC(struct coll_waiting_row) rows;
	struct map by_frame; /* below its caller -> index in frames */
	VEC(struct coll_waiting_frame) frames;
	struct coll_count all;
};

/* True if an image of the key or of the stack is pending: its file cannot be written yet.
 * @stack: NULL: there is none; here and below */
bool coll_waiting_must(const struct coll_key *key, const struct coll_stack *stack);

/* Adds to what waits.  0, or -ENOMEM, also if far too much does; if that is too many
 * frames, only the stack is lost: it is SPEC_STACK_FULL then. */
int coll_waiting_add(struct coll_waiting *w, const struct coll_key *key, uint64_t at,
		     const struct coll_stack *stack, const struct coll_count *count);

/**
 * coll_waiting_file - files what need not wait any more
 * @file: called for each, with what the images turned out to be
 * The rest goes on waiting, and refers to no image in the images table's @other.
 */
void coll_waiting_file(struct coll_waiting *w,
		       void (*file)(void *ctx, const struct coll_waiting_row *row,
				    const struct coll_stack *stack),
		       void *ctx);

void coll_waiting_fini(struct coll_waiting *w);

#endif
