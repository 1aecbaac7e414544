/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/pb.h"

enum { VARINT = 0, BYTES = 2 };

void pb_varint(struct strbuf *out, uint64_t v)
{
	char bytes[10];
	size_t len = 0;

	for (; v >= 0x80; v >>= 7)
		bytes[len++] = (char)(v | 0x80);
	bytes[len++] = (char)v;
	strbuf_add(out, bytes, len);
}

static void put_tag(struct strbuf *out, unsigned field, unsigned kind)
{
	pb_varint(out, (uint64_t)field << 3 | kind);
}

void pb_number(struct strbuf *out, unsigned field, uint64_t v)
{
	if (!v)
		return;
	put_tag(out, field, VARINT);
	pb_varint(out, v);
}

void pb_bytes(struct strbuf *out, unsigned field, const void *data, size_t len)
{
	put_tag(out, field, BYTES);
	pb_varint(out, len);
	if (len)
		strbuf_add(out, data, len);
}

void pb_message(struct strbuf *out, unsigned field, const struct strbuf *message)
{
	if (strbuf_error(message))
		out->failed = true;
	else
		pb_bytes(out, field, message->data, message->len);
}
