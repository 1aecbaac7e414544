/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_DOWNLOAD_H
#define OPFS_CLI_DOWNLOAD_H

#include <stdint.h>

#include "base/build_id.h"
#include "base/err.h"
#include "libsym/file/caches.h"

/*
 * Asks the debuginfod servers of $DEBUGINFOD_URLS for files.  libdebuginfod is loaded
 * when this is opened: it brings an HTTP client and all that needs, which no other
 * command should wait for.  Nothing else in opfs goes to the network.
 */
struct download;

/* SIGINT, SIGTERM and SIGHUP end a transfer from then on: see download_end_by_signal().
 * 0 or -errno. */
int download_open(uint64_t max_bytes, struct download **out, struct err *err);
void download_close(struct download *d); /* NULL is fine */

/**
 * download_get - makes a file be in the user's cache (sym_caches_debuginfod())
 * What is there already is not asked for again, also if it is not what it should be.
 * @path: receives it, to free()
 * @size: receives its size
 * Returns 0; -ENOENT: no server has it; -EINTR: a signal came; another errno with why.  A
 * part of a file is not left behind.
 */
int download_get(struct download *d, enum sym_cached what, const struct build_id *id,
		 char **path, uint64_t *size, struct err *err);

/* If a signal came, ends this process by it. */
void download_end_by_signal(void);

#endif
