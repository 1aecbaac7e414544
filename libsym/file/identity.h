/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_IDENTITY_H
#define LIBSYM_FILE_IDENTITY_H

#include <stdbool.h>
#include <sys/stat.h>

/* What stat(2) shows of a file; zeros if there is none. */
struct sym_identity {
	bool known;
	struct statx st;
};

/* Looks without waiting for anything (sym_open_cached()): what the kernel does not have
 * in memory is not known. */
struct sym_identity sym_identity_of(const char *path);

static inline bool sym_identity_absent(const struct sym_identity *id)
{
	return id->known && !id->st.stx_ino;
}

/* Both are known, and nothing was done to the file in between. */
bool sym_identity_same(const struct sym_identity *a, const struct sym_identity *b);

#endif
