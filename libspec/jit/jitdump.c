/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/jit/jitdump.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cursor.h"
#include "base/map.h"

#define MAGIC 0x4a695444u
enum { VERSION = 1, HEADER_BYTES = 40, RECORD_BYTES = 16 };

enum record { LOAD = 0, MOVE = 1, DEBUG_INFO = 2, CLOSE = 3, UNWINDING = 4 };

static int read_header(struct cursor *c, struct spec_jitdump_header *h, struct err *err)
{
	uint32_t magic = cursor_u32(c), version = cursor_u32(c), bytes = cursor_u32(c);

	h->elf_machine = cursor_u32(c);
	cursor_u32(c);
	h->pid = cursor_u32(c);
	cursor_u64(c);
	h->flags = cursor_u64(c);
	if (c->bad || magic != MAGIC)
		return err_set(err, -EBADMSG, "not a jitdump of this machine");
	if (version != VERSION)
		return err_set(err, -EBADMSG, "a jitdump of version %u, not %d", version,
			       VERSION);
	if (bytes < HEADER_BYTES || bytes - HEADER_BYTES > cursor_left(c))
		return err_set(err, -EBADMSG, "a jitdump with a header of %u bytes",
			       bytes);
	cursor_skip(c, bytes - HEADER_BYTES);
	return 0;
}

struct reading {
	const struct spec_jitdump_visit *visit;
	struct spec_jitdump_unwind unwind;
	bool has_unwind;
	uint64_t bad;
};

static int read_load(struct reading *r, struct cursor *c)
{
	struct spec_jitdump_load load = { 0 };

	cursor_skip(c, 8 + 8); /* process, thread; address in the dumped image */
	load.addr = cursor_u64(c);
	load.size = cursor_u64(c);
	load.index = cursor_u64(c);
	load.name = cursor_str(c);
	if (c->bad) {
		r->bad++;
		return 0;
	}
	load.name_len = strlen(load.name);
	if (load.size <= cursor_left(c))
		load.code = cursor_bytes(c, (size_t)load.size);
	load.unwind = r->has_unwind ? &r->unwind : NULL;
	return r->visit->load ? r->visit->load(r->visit->ctx, &load) : 0;
}

static int read_move(struct reading *r, struct cursor *c)
{
	struct spec_jitdump_move move;

	cursor_skip(c, 8 + 8);
	move.from = cursor_u64(c);
	move.to = cursor_u64(c);
	move.size = cursor_u64(c);
	move.index = cursor_u64(c);
	if (c->bad) {
		r->bad++;
		return 0;
	}
	return r->visit->move ? r->visit->move(r->visit->ctx, &move) : 0;
}

/* The bytes of .eh_frame, then those of .eh_frame_hdr. */
static void read_unwinding(struct reading *r, struct cursor *c)
{
	uint64_t size = cursor_u64(c), header = cursor_u64(c), mapped = cursor_u64(c);
	const uint8_t *data = NULL;

	if (!c->bad && header <= size && size <= cursor_left(c))
		data = cursor_bytes(c, (size_t)size);
	r->has_unwind = data;
	r->bad += !data;
	if (!data)
		return;
	r->unwind = (struct spec_jitdump_unwind){
		.eh_frame = data,
		.eh_frame_len = (size_t)(size - header),
		.eh_frame_hdr = data + (size - header),
		.eh_frame_hdr_len = (size_t)header,
		.mapped = mapped,
	};
}

static int read_record(struct reading *r, uint32_t id, struct cursor *c)
{
	int rc = 0;

	switch (id) {
	case LOAD:
		rc = read_load(r, c);
		r->has_unwind = false;
		break;
	case MOVE:
		rc = read_move(r, c);
		break;
	case UNWINDING:
		read_unwinding(r, c);
		break;
	default: /* DEBUG_INFO, CLOSE, and whatever is invented later */
		break;
	}
	return rc;
}

int spec_jitdump_read(const void *data, size_t len, struct spec_jitdump_header *header,
		      const struct spec_jitdump_visit *visit, uint64_t *bad,
		      struct err *err)
{
	struct cursor c = cursor_init(data, len);
	struct reading r = { .visit = visit };
	int rc = read_header(&c, header, err);

	while (!rc && cursor_left(&c) >= RECORD_BYTES) {
		size_t at = c.off;
		uint32_t id = cursor_u32(&c), bytes = cursor_u32(&c);
		struct cursor body;

		cursor_u64(&c); /* when */
		if (bytes < RECORD_BYTES) {
			rc = err_set(err, -EBADMSG,
				     "a record of %u bytes at %zu of a jitdump", bytes,
				     at);
			break;
		}
		if (bytes - RECORD_BYTES > cursor_left(&c))
			break;
		body = cursor_init(c.data + c.off, bytes - RECORD_BYTES);
		rc = read_record(&r, id, &body);
		cursor_skip(&c, bytes - RECORD_BYTES);
	}
	if (bad)
		*bad = r.bad;
	return rc;
}

/* ---- names */

struct naming {
	struct spec_jit_list *out;
	struct map_u64 by_index; /* number of a piece of code -> its entry */
};

static int name_load(void *ctx, const struct spec_jitdump_load *load)
{
	struct naming *n = ctx;
	size_t at = n->out->codes.len;
	int rc = spec_jit_add(n->out, load->addr, load->size, load->name, load->name_len);

	if (rc || n->out->codes.len == at)
		return rc;
	return map_u64_set(&n->by_index, load->index, at);
}

static int name_move(void *ctx, const struct spec_jitdump_move *move)
{
	struct naming *n = ctx;
	uint64_t at;

	if (!map_u64_get(&n->by_index, move->index, &at)) {
		n->out->bad++;
		return 0;
	}
	return spec_jit_add_same(n->out, move->to, move->size,
				 n->out->codes.data[at].name);
}

int spec_jit_jitdump(const void *data, size_t len, struct spec_jit_list *out,
		     struct err *err)
{
	struct naming n = { .out = out };
	const struct spec_jitdump_visit visit = { .load = name_load,
						  .move = name_move,
						  .ctx = &n };
	struct spec_jitdump_header header;
	uint64_t bad = 0;
	int rc = spec_jitdump_read(data, len, &header, &visit, &bad, err);

	out->bad += bad;
	map_u64_fini(&n.by_index);
	return rc;
}
