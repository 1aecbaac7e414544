/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_RING_H
#define COLLECTOR_SOURCE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "collector/source/layout.h"

/*
 * The reading side of one perf ring.  Records stay in the ring until they have been
 * handed over: nothing is copied but a record that wraps around the end.
 * Source: perf_event_open(2) "MMAP layout".
 */
struct coll_ring {
	const struct coll_layout *layout; /* of its records; borrowed */
	void *base;                       /* control page and data; NULL: none */
	const char *data;
	size_t size;     /* bytes of data, a power of two */
	uint64_t head;   /* read up to here is allowed */
	uint64_t tail;   /* next record */
	uint64_t told;   /* tail as the kernel knows it */
	char *wrapped;   /* holds a record that wraps; 64 KiB, aligned */
	const void *rec; /* the record at tail, or NULL */
	size_t rec_len;
	uint64_t rec_time; /* its time, never before an earlier record's */
};

/**
 * coll_ring_map - maps the ring of a perf event
 * @fd: the event; stays the caller's, and must outlive the ring
 * @pages: data pages, a power of two
 * Returns 0, -EPERM (more than may be locked), or another -errno.
 */
int coll_ring_map(struct coll_ring *r, int fd, size_t pages,
		  const struct coll_layout *layout, struct err *err);
/* Reads from memory that looks like a mapped ring of @pages data pages: for tests. */
int coll_ring_init(struct coll_ring *r, void *base, size_t size,
		   const struct coll_layout *layout);
void coll_ring_fini(struct coll_ring *r);

/* Learns how far the kernel has written. */
void coll_ring_refresh(struct coll_ring *r);

/* Looks at the record at @tail, which is before @head. */
bool coll_ring_look(struct coll_ring *r, bool *bad);
/**
 * coll_ring_peek - the next record
 * Sets @rec, @rec_len and @rec_time; false if there is none.  A size that cannot be makes
 * the rest of what was seen unreadable: it is skipped, and *@bad set.
 */
static inline bool coll_ring_peek(struct coll_ring *r, bool *bad)
{
	return r->rec || (r->tail != r->head && coll_ring_look(r, bad));
}

/* Done with the record: the kernel may overwrite it soon. */
void coll_ring_next(struct coll_ring *r);
/* Tells the kernel how far was read. */
void coll_ring_release(struct coll_ring *r);

/* Bytes seen and not yet handed over. */
static inline uint64_t coll_ring_backlog(const struct coll_ring *r)
{
	return r->head - r->tail;
}

#endif
