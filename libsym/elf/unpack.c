/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/unpack.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/strbuf.h"

#define CHUNK (128u << 10)

bool sym_unpack_is_zstd(const unsigned char *magic)
{
	static const unsigned char zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };

	return !memcmp(magic, zstd, sizeof(zstd));
}

static void free_stream(ZSTD_DStream **s)
{
	ZSTD_freeDStream(*s);
}

struct unpacker {
	ZSTD_DStream *stream;
	size_t max;
	struct strbuf *out;
	char piece[CHUNK];
};

static int unpack_chunk(struct unpacker *u, const void *data, size_t len, size_t *left)
{
	ZSTD_inBuffer in = { .src = data, .size = len };

	while (in.pos < in.size || *left == SIZE_MAX) {
		ZSTD_outBuffer out = { .dst = u->piece, .size = sizeof(u->piece) };

		*left = ZSTD_decompressStream(u->stream, &out, &in);
		if (ZSTD_isError(*left) || u->out->len + out.pos > u->max)
			return -ENOEXEC;
		strbuf_add(u->out, u->piece, out.pos);
		if (out.pos == out.size && *left)
			*left = SIZE_MAX; /* there may be more to flush */
	}
	return strbuf_error(u->out);
}

static int unpack_all(struct unpacker *u, int fd, struct err *err)
{
	char packed[CHUNK / 4];
	size_t left = 1;
	off_t at = 0;
	ssize_t n;
	int rc;

	while ((n = file_pread_all(fd, packed, sizeof(packed), at)) > 0) {
		rc = unpack_chunk(u, packed, (size_t)n, &left);
		if (rc == -ENOEXEC)
			return err_set(err, rc,
				       "is damaged, or unpacks to more than "
				       "%zu MiB",
				       u->max >> 20);
		if (rc)
			return err_set(err, rc, "out of memory");
		at += n;
	}
	return left ? err_set(err, -ENOEXEC, "is cut short") : 0;
}

int sym_unpack_zstd(int fd, size_t max, void **out, size_t *size, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(free_stream) ZSTD_DStream *stream = ZSTD_createDStream();
	CLEANUP(free_ptr) struct unpacker *u = calloc(1, sizeof(*u));
	int rc;

	if (!stream || !u)
		return err_set(err, -ENOMEM, "out of memory");
	*u = (struct unpacker){ .stream = stream, .max = max, .out = &text };
	rc = unpack_all(u, fd, err);
	if (rc)
		return rc;
	*size = text.len;
	*out = strbuf_take(&text);
	return *out ? 0 : err_set(err, -ENOMEM, "out of memory");
}
