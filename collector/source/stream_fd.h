/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_SOURCE_STREAM_FD_H
#define COLLECTOR_SOURCE_STREAM_FD_H

#include <stdbool.h>
#include <stddef.h>

#include "collector/source/stream.h"

/* Reads a stream from a descriptor: the driver's buffer, a file, a pipe. */
struct coll_stream_fd {
	struct coll_stream stream;
	int fd;      /* of the caller */
	int save_fd; /* what is read is written there as well; -1: nowhere */
	uint64_t *buf;
	size_t have;    /* bytes in @buf */
	struct err err; /* why a read failed */
};

enum coll_read { COLL_READ_END, COLL_READ_SOME, COLL_READ_LATER };

/* 0 or -ENOMEM. */
int coll_stream_fd_init(struct coll_stream_fd *f, int fd, int save_fd, struct err *err);
void coll_stream_fd_fini(struct coll_stream_fd *f);

/* Reads so much that it is certain whether it is a stream, and keeps that for
 * coll_stream_fd_read(); waits for it.  0 or -errno. */
int coll_stream_fd_begin(struct coll_stream_fd *f, struct err *err);

/**
 * coll_stream_fd_read - one read, and what it brought to the stream's consumer
 * Returns COLL_READ_END at the end (the consumer has everything then), COLL_READ_LATER
 * if there is nothing yet (O_NONBLOCK), COLL_READ_SOME, or -errno, with the reason in
 * @err of the struct, unless the consumer failed.
 */
int coll_stream_fd_read(struct coll_stream_fd *f);
/* No more is read: see coll_stream_end(). */
int coll_stream_fd_end(struct coll_stream_fd *f);

#endif
