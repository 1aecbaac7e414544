/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_STORE_SYMBOLS_H
#define COLLECTOR_STORE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collector/who/held.h"

/*
 * Names outlive binaries because "opfs keep" is started where a session is closed:
 * another process, with sandboxed helpers of its own, for the collector reads no symbols.
 */

struct coll_symbols {
	bool none;      /* nothing is kept */
	uint64_t limit; /* bytes that all kept names may take; 0: what opfs thinks best */
};

/**
 * coll_symbols_keep - keeps what names the samples of a closed session
 * @samples_fd: SESSION_DIR/samples
 * @session: its name there; NULL: only removes what no session needs any more
 * Waits for it.  What could not be kept is logged, and told in the session's notes.
 * Returns how many notes these are.
 */
size_t coll_symbols_keep(int samples_fd, const char *session,
			 const struct coll_symbols *how);
/* The same, before it, for files of containers, which may be gone by now; the session
 * may be written to. */
size_t coll_symbols_keep_held(int samples_fd, const char *session,
			      const struct coll_symbols *how, const coll_held_fds *held);

#endif
