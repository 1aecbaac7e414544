/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/gzip.h"

#include <errno.h>
#include <zlib.h>

enum {
	PIECE = 64 << 10,
	WINDOW_BITS = 15 + 16, /* the largest, with gzip's header */
	MEMORY_LEVEL = 8,      /* zlib's default */
};

/* Packs one piece, and with Z_FINISH what is left. */
static int pack_piece(z_stream *z, int flush, struct strbuf *out)
{
	unsigned char room[16 << 10];
	int rc;

	do {
		z->next_out = room;
		z->avail_out = sizeof(room);
		rc = deflate(z, flush);
		strbuf_add(out, room, sizeof(room) - z->avail_out);
	} while (rc == Z_OK && !z->avail_out && !strbuf_error(out));
	return strbuf_error(out);
}

int gzip_pack(const void *data, size_t len, const struct viewer *v, struct strbuf *out)
{
	const unsigned char *at = data;
	z_stream z = { 0 };
	int rc = 0;

	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	for (size_t piece; len && !rc; at += piece, len -= piece) {
		piece = len < PIECE ? len : PIECE;
		z.next_in = (unsigned char *)(uintptr_t)at;
		z.avail_in = (unsigned)piece;
		rc = viewer_gone(v) ? -EINTR : pack_piece(&z, Z_NO_FLUSH, out);
	}
	rc = rc ? rc : pack_piece(&z, Z_FINISH, out);
	deflateEnd(&z);
	return rc;
}
