/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_SPANS_H
#define OPFS_SESSION_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "libspec/spec/span.h"

/*
 * The times of the sessions of a session directory.  Closed sessions are read once.
 * Thread safe.
 */
struct spans;

struct spans_row { /* a session */
	char *name;
	uint64_t dev, ino, mtime_ns; /* of its directory */
	bool dated;                  /* @when is known */
	struct spec_session_span when;
};

struct spans_list { /* sorted by name */
	struct spans_row *rows;
	size_t nr;
};

/* @session_dir_fd, @trusted: see spec_session_list(); borrowed.  NULL: out of memory. */
struct spans *spans_new(int session_dir_fd, const uid_t *trusted);
void spans_free(struct spans *s);

/**
 * spans_get - the sessions that exist, and their times
 * @now_ns: CLOCK_REALTIME
 * @anew: look even if that was done a moment ago
 * @quick: -EAGAIN instead of reading many directories
 * @out: the caller's, spans_list_fini()
 */
int spans_get(struct spans *s, uint64_t now_ns, bool anew, bool quick,
	      struct spans_list *out, struct err *err);
void spans_list_fini(struct spans_list *l); /* accepts a zeroed one */

#endif
