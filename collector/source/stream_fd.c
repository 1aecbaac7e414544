/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/stream_fd.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

enum { WORD = sizeof(uint64_t), ROOM = 2 * COLL_STREAM_MAX_WORDS * WORD };

int coll_stream_fd_init(struct coll_stream_fd *f, int fd, int save_fd, struct err *err)
{
	int rc;

	*f = (struct coll_stream_fd){ .fd = fd, .save_fd = save_fd };
	f->buf = malloc(ROOM);
	rc = f->buf ? coll_stream_init(&f->stream, err)
		    : err_errno(err, -ENOMEM, "event buffer");
	return rc;
}

void coll_stream_fd_fini(struct coll_stream_fd *f)
{
	coll_stream_fini(&f->stream);
	free(f->buf);
	f->buf = NULL;
}

/* A stream that cannot be saved is no reason to stop: what was saved is whole. */
static void save(struct coll_stream_fd *f, const void *data, size_t len)
{
	if (f->save_fd >= 0 && file_write_all(f->save_fd, data, len))
		f->save_fd = -1;
}

int coll_stream_fd_end(struct coll_stream_fd *f)
{
	size_t left = f->have;

	f->have = 0;
	return coll_stream_end(&f->stream, left);
}

int coll_stream_fd_begin(struct coll_stream_fd *f, struct err *err)
{
	const size_t wanted = COLL_STREAM_START * WORD;

	while (f->have < wanted) {
		struct pollfd ready = { .fd = f->fd, .events = POLLIN };
		ssize_t n = read(f->fd, (uint8_t *)f->buf + f->have, wanted - f->have);

		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (!n)
			return err_set(err, -EBADMSG,
				       f->have ? "it ends before a stream of the "
						 "driver's event buffer has begun"
					       : "it is empty");
		if (n < 0)
			poll(&ready, 1, -1);
		else
			f->have += (size_t)n;
	}
	return coll_stream_check(f->buf, err);
}

int coll_stream_fd_read(struct coll_stream_fd *f)
{
	uint8_t *bytes = (uint8_t *)f->buf;
	ssize_t n = read(f->fd, bytes + f->have, ROOM - f->have);
	size_t used;
	int rc;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR
			       ? COLL_READ_LATER
			       : err_errno(&f->err, -errno, "event buffer");
	if (!n) {
		rc = coll_stream_fd_end(f);
		return rc ? rc : COLL_READ_END;
	}
	save(f, bytes + f->have, (size_t)n);
	f->have += (size_t)n;
	rc = coll_stream_feed(&f->stream, f->buf, f->have / WORD, &used, &f->err);
	f->have -= used * WORD;
	memmove(bytes, f->buf + used, f->have);
	return rc ? rc : COLL_READ_SOME;
}
