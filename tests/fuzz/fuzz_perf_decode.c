/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: collector libspec libcfi events base */
/* A ring full of anything: what is read stays inside it, and strings and chains in it. */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/source/decode.h"
#include "collector/source/order.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RING = 1 << 16, MAX_PAGE = 1 << 16 };

static volatile uint64_t sink;

/* Touches everything a record lends, in a copy whose end the sanitizer watches. */
static int take(void *ctx, const void *rec, size_t len)
{
	void *copy = malloc(len);
	struct coll_rec out;

	if (!copy)
		return 0;
	memcpy(copy, rec, len);
	sink += coll_layout_time(&((struct coll_decoder *)ctx)->layout, copy, len);
	if (!coll_decode(ctx, copy, len, &out, NULL)) {
		if (out.kind == COLL_REC_SAMPLE)
			for (size_t i = 0; i < out.sample.nr_ips; i++)
				sink += out.sample.ips[i];
		if (out.kind == COLL_REC_SAMPLE && out.sample.user_stack)
			for (size_t i = 0; i < out.sample.user_stack->size; i++)
				sink += ((const uint8_t *)
						 out.sample.user_stack->bytes)[i];
		if (out.kind == COLL_REC_MMAP)
			sink += strlen(out.mmap.filename) + out.mmap.build_id_len;
		if (out.kind == COLL_REC_COMM)
			sink += strlen(out.comm.name);
	}
	free(copy);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static _Alignas(MAX_PAGE) char memory[MAX_PAGE + RING];
	struct perf_event_mmap_page *page = (void *)memory;
	size_t page_size = (size_t)sysconf(_SC_PAGESIZE), at;
	struct perf_event_attr attr = { 0 };
	struct coll_decoder d = { 0 };
	struct coll_ring ring = { 0 };
	struct coll_order o = { .rings = &ring, .nr = 1 };

	if (size < 2)
		return 0;
	/* as perf is asked for, or as an attribute from a file could say */
	if (!(data[0] & 2))
		coll_layout_ask(data[0] & 1, data[1] & 1 ? 512 : 0, &attr);
	else
		memcpy(&attr.sample_type, data + 2, size < 10 ? size - 2 : 8);
	attr.read_format = data[0] >> 2 & 31;
	attr.sample_id_all |= data[0] >> 7;
	if (coll_layout_init(&d.layout, &attr, NULL))
		return 0;
	at = (size_t)data[1] * 256; /* so that records wrap */
	data += 2;
	size = (size - 2) & ~(size_t)7;
	size = size < RING ? size : RING;
	for (size_t i = 0; i < size; i++)
		memory[page_size + (at + i) % RING] = (char)data[i];
	page->data_tail = at;
	page->data_head = at + size;
	if (!coll_decoder_add(&d, 77, 0) &&
	    !coll_ring_init(&ring, memory, RING, &d.layout))
		coll_order_round(&o, UINT64_MAX, take, &d);
	free(ring.wrapped);
	coll_decoder_fini(&d);
	return 0;
}
