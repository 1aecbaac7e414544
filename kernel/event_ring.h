/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_EVENT_RING_H
#define OPK_EVENT_RING_H

#include <linux/mutex.h>
#include <linux/types.h>

/* What the two sides of the event buffer share. */
struct opk_event_ring {
	u64 *words;
	u64 mask;
	u64 head; /* writers', under their lock */
	u64 tail; /* the reader's, under read_mutex */
	struct mutex read_mutex;
};

extern struct opk_event_ring opk_ring;

/*
 * A run is about to begin; under read_mutex.  -EINVAL without a reader, -EBUSY if the
 * last run was not read to its end.
 */
int opk_reader_begin(void);

#endif
