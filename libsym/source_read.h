/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SOURCE_READ_H
#define LIBSYM_SOURCE_READ_H

#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/job.h"

#define SYM_SOURCE_MAX (64u << 20) /* bytes of a source file */

/**
 * sym_source_encode - reads a source file in this process, which is a helper
 * @paths: NUL-terminated texts, one behind the other, @len bytes; the first one that is
 *	a regular file counts
 * @cred: who wants it, see sym_open()
 * Appends the answer in the form of libsym/source_wire.h.  0 or -ENOMEM.
 */
int sym_source_encode(const char *paths, size_t len, const struct sym_cred *cred,
		      struct strbuf *out, struct err *err);

#endif
