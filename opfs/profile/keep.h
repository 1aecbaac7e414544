/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_PROFILE_KEEP_H
#define OPFS_PROFILE_KEEP_H

#include <stddef.h>

#include "base/err.h"
#include "opfs/profile/profile.h"
#include "opfs/session/symbols_dir.h"

struct profile_keep {
	const struct profile *p;         /* of a whole session, with HITS and ARCS */
	struct sym_cache *syms;          /* that loaded it */
	struct symbols_dir *dir;         /* where to */
	size_t written, as_before, lost; /* results: images */
	/* Is told of each image whose names could not be kept, and why. */
	void (*tell)(void *ctx, const char *image, const char *why);
	void *ctx;
};

/**
 * profile_keep - keeps what names the samples of a session, for when binaries are gone
 * Every image is asked for once, several at a time.  0 or -ENOMEM.
 */
int profile_keep(struct profile_keep *k, struct err *err);

#endif
