/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPK_EVENT_READER_H
#define OPK_EVENT_READER_H

#include <linux/mutex.h>
#include <linux/types.h>

/* State that both sides of the event buffer share. */
struct opk_event_ring {
	u64 *words;
	u64 mask;
	u64 head; /* the writers', under their lock */
	u64 tail; /* the reader's, under read_mutex */
	struct mutex read_mutex;
};

extern struct opk_event_ring opk_ring;

/*
 * Called before a run begins, under read_mutex.  -EINVAL without a reader, -EBUSY if the
 * last run was not read to its end.
 */
int opk_reader_begin(void);

#endif
