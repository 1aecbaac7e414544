/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_COLLECTOR_RECORDS_H
#define TESTS_COLLECTOR_RECORDS_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>

/* Records as the kernel writes them, for tests. */
struct bytes {
	_Alignas(8) uint8_t data[4096];
	size_t len;
};

static inline void put(struct bytes *b, const void *what, size_t len)
{
	memcpy(b->data + b->len, what, len);
	b->len += len;
}

static inline void put32(struct bytes *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static inline void put64(struct bytes *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static inline void begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	b->len = 0;
	put(b, &h, sizeof(h));
}

static inline void end(struct bytes *b)
{
	((struct perf_event_header *)(void *)b->data)->size = (uint16_t)b->len;
}

/* The sample id that ends all but samples. */
static inline void end_with_id(struct bytes *b, uint32_t tgid, uint32_t tid,
			       uint64_t time_ns, uint32_t cpu, uint64_t id)
{
	put32(b, tgid);
	put32(b, tid);
	put64(b, time_ns);
	put32(b, cpu);
	put32(b, 0);
	put64(b, id);
	end(b);
}

static inline void make_sample(struct bytes *b, uint64_t id, uint64_t ip, uint32_t tgid,
			       uint64_t time_ns)
{
	begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	put64(b, id);
	put64(b, ip);
	put32(b, tgid);
	put32(b, tgid + 1);
	put64(b, time_ns);
	put32(b, 3);
	put32(b, 0);
	end(b);
}

#endif
