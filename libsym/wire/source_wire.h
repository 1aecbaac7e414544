/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_SOURCE_WIRE_H
#define LIBSYM_WIRE_SOURCE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/source.h"

/* A source file from a helper: header, reason, path (both with their NUL), content. */
#define SYM_SOURCE_MAGIC 0x43525362u
#define SYM_SOURCE_VERSION 1u

#define SYM_SOURCE_MAX (64u << 20) /* bytes of a source file */

struct sym_source_header {
	uint32_t magic, version;
	uint32_t state, reason_len, path_len, len; /* texts with their NUL */
	int64_t mtime;
};
_Static_assert(sizeof(struct sym_source_header) == 32, "source header");

/* Appends @s.  0 or -ENOMEM. */
int sym_source_pack(const struct sym_text *s, struct strbuf *out);

/**
 * sym_source_decode - a source file from untrusted bytes
 * @data: aligned to 8 bytes; not needed afterwards
 * Control bytes in reason and path become "?"; the content stays as it is.
 * Returns 0, -EBADMSG, -ENOMEM.
 */
int sym_source_decode(const void *data, size_t len, struct sym_text **out,
		      struct err *err);

/* A result without content that gives the reason.  0 or -ENOMEM. */
int sym_source_none(enum sym_state state, const char *reason, struct sym_text **out,
		    struct err *err);

#endif
