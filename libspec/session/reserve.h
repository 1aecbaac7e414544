/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_RESERVE_H
#define LIBSPEC_SESSION_RESERVE_H

#include <stddef.h>

#include "base/err.h"

/*
 * Room for figures on a full disk: some files stats/.roomN that hold a block each from
 * the beginning.  What cannot be replaced by a new file for lack of space is written into
 * one of them, which then changes places with the file there is: the room is there again.
 */

/* Makes stats/ and the room.  0 or -errno: then figures need a disk that is not full. */
int spec_room_make(int session_fd, struct err *err);
/* Gives the room back, in a session that is written to no more. */
void spec_room_drop(int session_fd);

/**
 * spec_room_replace - replaces a small file by new content, as a whole
 * @path: below stats/
 * @len: a page at most
 * Returns 0, -ENOSPC or -EDQUOT if the room is used up too, or another -errno.
 */
int spec_room_replace(int session_fd, const char *path, const void *data, size_t len,
		      struct err *err);

#endif
