/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/ring.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAX_RECORD = 1 << 16, RELEASE_EVERY = 1 << 16 };

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int coll_ring_init(struct coll_ring *r, void *base, size_t size,
		   const struct coll_layout *layout)
{
	const struct perf_event_mmap_page *page = base;

	r->wrapped = malloc(MAX_RECORD);
	if (!r->wrapped)
		return -ENOMEM;
	r->layout = layout;
	r->base = base;
	r->data = (const char *)base + page_size();
	r->size = size;
	r->tail = r->head = r->told = page->data_tail;
	r->rec = NULL;
	return 0;
}

int coll_ring_map(struct coll_ring *r, int fd, size_t pages,
		  const struct coll_layout *layout, struct err *err)
{
	size_t size = pages * page_size();
	void *base;
	int rc;

	base = mmap(NULL, size + page_size(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return err_errno(err, -errno, "perf ring of %zu KiB", size / 1024);
	rc = coll_ring_init(r, base, size, layout);
	if (rc) {
		munmap(base, size + page_size());
		return err_errno(err, rc, "perf ring");
	}
	return 0;
}

void coll_ring_fini(struct coll_ring *r)
{
	if (r->base)
		munmap(r->base, r->size + page_size());
	free(r->wrapped);
	*r = (struct coll_ring){ 0 };
}

void coll_ring_refresh(struct coll_ring *r)
{
	const struct perf_event_mmap_page *page = r->base;

	/* pairs with the kernel's store: records before it are complete */
	r->head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* The record of @len bytes at tail in one piece. */
static const void *in_one_piece(struct coll_ring *r, size_t len)
{
	size_t off = (size_t)(r->tail & (r->size - 1));
	size_t before_end = r->size - off;

	if (len <= before_end)
		return r->data + off;
	memcpy(r->wrapped, r->data + off, before_end);
	memcpy(r->wrapped + before_end, r->data, len - before_end);
	return r->wrapped;
}

bool coll_ring_look(struct coll_ring *r, bool *bad)
{
	struct perf_event_header h;
	uint64_t time_ns;

	/* records are multiples of 8 bytes, so a header never wraps */
	memcpy(&h, r->data + (r->tail & (r->size - 1)), sizeof(h));
	if (h.size < sizeof(h) || h.size % 8 || h.size > r->head - r->tail ||
	    h.size > r->size) {
		*bad = true;
		r->tail = r->head;
		return false;
	}
	r->rec_len = h.size;
	r->rec = in_one_piece(r, h.size);
	time_ns = coll_layout_time(r->layout, r->rec, r->rec_len);
	if (time_ns > r->rec_time)
		r->rec_time = time_ns;
	return true;
}

void coll_ring_next(struct coll_ring *r)
{
	r->tail += r->rec_len;
	r->rec = NULL;
	if (r->tail - r->told >= RELEASE_EVERY)
		coll_ring_release(r);
}

void coll_ring_release(struct coll_ring *r)
{
	struct perf_event_mmap_page *page = r->base;

	if (r->told == r->tail)
		return;
	/* our reads are done before the kernel sees the space as free */
	__atomic_store_n(&page->data_tail, r->tail, __ATOMIC_RELEASE);
	r->told = r->tail;
}
