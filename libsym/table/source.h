/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_SOURCE_H
#define LIBSYM_TABLE_SOURCE_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "libsym/table/symtab.h"

/* The text of a source file, read with the rights of the user who asks. */
struct sym_text {
	enum sym_state
		state; /* SYM_OK, SYM_MISSING, SYM_UNREADABLE, SYM_BROKEN (too big) */
	const char *reason; /* one line that names the file; "" if SYM_OK */
	const char *path;   /* which of the paths it was; "" if none */
	const char *data;   /* @len bytes and a NUL behind them; any bytes */
	size_t len;
	int64_t mtime; /* seconds */
};

static inline void sym_text_free(struct sym_text *s) /* NULL is fine */
{
	free(s); /* one block: see sym_source_decode() */
}

static inline void sym_text_freep(struct sym_text **s)
{
	sym_text_free(*s);
}

#endif
