/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_HELPER_SOURCE_READ_H
#define LIBSYM_HELPER_SOURCE_READ_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"

/**
 * sym_source_encode - reads a source file in this process, which is a helper
 * @paths: NUL-terminated texts, one behind the other, @len bytes; the first one that is
 *	a regular file counts
 * @cred: who wants it, see sym_open()
 * Appends the answer in the form of libsym/wire/source_wire.h.  0 or -ENOMEM.
 */
int sym_source_encode(const char *paths, size_t len, const struct cred *cred,
		      struct strbuf *out, struct err *err);

#endif
