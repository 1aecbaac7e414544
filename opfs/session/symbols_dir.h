/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_SYMBOLS_DIR_H
#define OPFS_SESSION_SYMBOLS_DIR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * SESSION_DIR/symbols as a writer: names that were kept (libsym/wire/kept.h) for the
 * sessions of the directory, a file for each image, which goes with the last session that
 * has the image.  Each file is whole, or not there.  One writer at a time: a lock file of
 * mode 0600 keeps others waiting, and readers from taking part.
 */
struct symbols_dir {
	int session_dir; /* borrowed */
	int fd, lock;    /* -1: not open */
	uint64_t bytes;  /* of its files, from symbols_dir_prune() on */
	uint64_t limit;  /* of them */
};
/* Bytes of the disk that are left to samples. */
#define SYMBOLS_DIR_FREE (64u << 20)

#define SYMBOLS_DIR_NONE                                                                 \
	{                                                                                \
		.session_dir = -1, .fd = -1, .lock = -1                                  \
	}

/* Makes it if it is not there, and waits for another writer.  0 or -errno. */
int symbols_dir_open(struct symbols_dir *d, int session_dir, uint64_t limit,
		     struct err *err);
void symbols_dir_close(struct symbols_dir *d); /* accepts SYMBOLS_DIR_NONE */

/**
 * symbols_dir_prune - removes what no session needs, and what was begun and not finished
 * @removed: receives how many files
 * Returns 0, or -errno: what sessions have cannot be read, and everything stays.
 */
int symbols_dir_prune(struct symbols_dir *d, unsigned *removed, struct err *err);

/**
 * symbols_dir_put - stores a file; one at a time
 * @name: from sym_kept_name()
 * Returns 0; -EDQUOT if that would be more than the limit; -ENOSPC if the disk would be
 * nearly full; another -errno.
 */
int symbols_dir_put(struct symbols_dir *d, const char *name, const struct strbuf *bytes,
		    bool is_public, struct err *err);

#endif
