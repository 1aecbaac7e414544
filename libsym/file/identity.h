/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_IDENTITY_H
#define LIBSYM_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "libsym/table/symtab.h"

/* What stat(2) shows of a file; zeros behind @known if there is none.  Helpers send it,
 * and files hold it: fixed sizes, and no gaps. */
struct sym_identity {
	uint32_t known; /* bool */
	uint32_t mode, uid, gid;
	uint64_t dev, ino, size;
	int64_t mtime_s, ctime_s;
	uint32_t mtime_ns, ctime_ns;
};
_Static_assert(sizeof(struct sym_identity) == 64, "identity of a file");

/*
 * A descriptor of O_PATH, for who must not wait: the path may lead into the mount that
 * asks.  It is walked as far as the kernel has it in memory; -EAGAIN, or another errno,
 * if that is not all of it, or such a walk is not to be had here.
 */
int sym_open_cached(const char *path);

/* Looks without waiting for anything (sym_open_cached()): what the kernel does not have
 * in memory is not known. */
struct sym_identity sym_identity_of(const char *path);
/* Of an open file; not known if it cannot be told. */
struct sym_identity sym_identity_of_fd(int fd);

/* True if the table was read from the file that @id was taken of afterwards. */
bool sym_identity_fits(const struct sym_identity *id, const struct sym_table *t);

static inline bool sym_identity_absent(const struct sym_identity *id)
{
	return id->known && !id->ino;
}

/* Both are known, and nothing was done to the file in between. */
bool sym_identity_same(const struct sym_identity *a, const struct sym_identity *b);

#endif
