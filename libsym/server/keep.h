/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_KEEP_H
#define LIBSYM_SERVER_KEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/server/server.h"

/*
 * Makes what is kept of an image for when its binary is gone, see libsym/wire/kept.h.
 */
struct sym_keep {
	/* What is sampled; job->kept is where it is kept; job->cred is not looked at. */
	const struct sym_job *job;
	const struct sym_table *table; /* its names now */
	const struct sym_range
		*ranges; /* code whose lines are needed: by off, disjoint */
	size_t nr_ranges;
};

/**
 * sym_keep_make - the file to be kept of an image
 * @out: receives its bytes; stays empty if what is there already is as good
 * @is_public: whether everybody could read all of it from the binary
 * Lines that were kept before stay, if the binary still has them or has none.
 * Returns 0; -EINTR; -ENOMEM; -EINVAL if nothing tells the image from others; -EIO or
 * another errno: the binary cannot be read any more, and what was kept stays.
 */
int sym_keep_make(struct sym_server *s, const struct sym_keep *k,
		  const atomic_bool *cancel, struct strbuf *out, bool *is_public,
		  struct err *err);

#endif
