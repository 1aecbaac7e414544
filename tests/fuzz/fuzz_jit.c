/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libspec base */
/*
 * A perf map (first byte 'm'), a jitdump ('d') or a session's file of names (any other).
 * Whatever is read is sound: names are text, and after settling nothing overlaps.  What
 * is written of it is read as the same again.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/jit/jit_file.h"
#include "libspec/jit/jitdump.h"
#include "libspec/jit/perf_map.h"
#include "tests/fuzz/fuzz.h"

static int touch(void *ctx, const struct spec_jitdump_load *load)
{
	volatile uint8_t sum = 0;

	(void)ctx;
	require(strlen(load->name) == load->name_len);
	for (size_t i = 0; load->code && i < load->size; i++)
		sum ^= load->code[i];
	for (size_t i = 0; load->unwind && i < load->unwind->eh_frame_len; i++)
		sum ^= load->unwind->eh_frame[i];
	for (size_t i = 0; load->unwind && i < load->unwind->eh_frame_hdr_len; i++)
		sum ^= load->unwind->eh_frame_hdr[i];
	return 0;
}

static void read_dump(const void *data, size_t len, struct spec_jit_list *l)
{
	const struct spec_jitdump_visit visit = { .load = touch };
	struct spec_jitdump_header h;
	int rc = spec_jitdump_read(data, len, &h, &visit, NULL, NULL);

	require(!rc || rc == -EBADMSG);
	require(spec_jit_jitdump(data, len, l, NULL) == rc);
}

static void check(const struct spec_jit_list *l)
{
	vec_for(&l->codes, c) {
		size_t len = strlen(c->name);

		require(c->size && c->start + c->size > c->start);
		require(len && len <= SPEC_JIT_NAME_MAX);
		for (size_t i = 0; i < len; i++)
			require((unsigned char)c->name[i] >= ' ' && c->name[i] != 0x7f);
	}
}

/* Lines of it, read again, are the same lines. */
static void round_trip(const struct spec_jit_list *l)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list again = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	uint64_t lost;

	strbuf_puts(&text, SPEC_JIT_HEADER);
	spec_jit_lines(l, 0, SIZE_MAX, &text);
	require(!strbuf_error(&text));
	require(!spec_jit_parse(text.data, text.len, &again, &lost, NULL));
	require(!lost && again.codes.len == l->codes.len);
	for (size_t i = 0; i < l->codes.len; i++)
		require(again.codes.data[i].start == l->codes.data[i].start &&
			again.codes.data[i].size == l->codes.data[i].size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(spec_jit_list_fini) struct spec_jit_list l = { 0 };
	const char *text = (const char *)data + 1;
	uint64_t lost = 0;

	if (!size)
		return 0;
	if (data[0] == 'd')
		read_dump(text, size - 1, &l);
	else if (data[0] == 'm')
		require(!spec_jit_perf_map(text, size - 1, &l));
	else if (spec_jit_parse(text, size - 1, &l, &lost, NULL))
		return 0;
	check(&l);
	require(!spec_jit_settle(&l, &lost));
	check(&l);
	for (size_t i = 1; i < l.codes.len; i++)
		require(l.codes.data[i - 1].start + l.codes.data[i - 1].size <=
			l.codes.data[i].start);
	round_trip(&l);
	return 0;
}
