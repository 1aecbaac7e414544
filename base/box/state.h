/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BOX_STATE_H
#define BASE_BOX_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * For how long a process waits for something else than a processor.  A clock cannot tell
 * that: on a busy machine a healthy process may not run for seconds.  So it is looked at
 * now and then: the time between two looks counts if the process was seen waiting at
 * both, and had not run meanwhile.  Of a process with threads the first one is looked at.
 */
struct box_state {
	uint64_t looked_ns; /* CLOCK_MONOTONIC, of the last look; 0: none yet */
	uint64_t switches;  /* how often it had waited then, and lost its processor */
	bool waits;         /* it was waiting then */
	uint64_t waited_ns; /* in its present wait, as far as seen */
	uint64_t all_ns;    /* between looks that both saw it wait, for whatever */
};

/* A look that comes late counts as so much: who looks may not have run himself. */
#define BOX_STATE_MOST_NS 200000000ULL

/**
 * box_state_look - looks at a process
 * @now_ns: CLOCK_MONOTONIC
 * Returns @waited_ns, which begins at 0 with each wait; 0 for a process that has gone.
 */
uint64_t box_state_look(struct box_state *s, pid_t pid, uint64_t now_ns);

#endif
