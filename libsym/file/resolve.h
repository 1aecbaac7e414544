/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_RESOLVE_H
#define LIBSYM_FILE_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cred.h"
#include "base/err.h"
#include "base/strbuf.h"

/*
 * Where a path leads, for a user who only named it.  What is not there and what he may
 * not see are the same: the path is resolved up to it.
 */
struct sym_resolved {
	bool is_dir;      /* it leads to a directory */
	struct strbuf to; /* it with its links resolved; empty: there are none in it */
};

void sym_resolved_fini(struct sym_resolved *r);

/* Runs in a helper, with the user's rights; @cred as in libsym/file/walk.h.  Appends the
 * answer.  0 or -ENOMEM. */
int sym_resolve_encode(const char *path, const struct cred *cred, struct strbuf *out,
		       struct err *err);
/* @data: untrusted bytes.  0, -EBADMSG, -ENOMEM. */
int sym_resolve_decode(const void *data, size_t len, struct sym_resolved *out,
		       struct err *err);

#endif
