/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_FIND_H
#define LIBSYM_FILE_FIND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"

/*
 * Searches directories and everything below them for binaries by basename, for those
 * that are no longer where they were sampled.  Runs in a helper, with the rights of the
 * asking user: a directory may be on a dead mount or in the mount that asks, or the user
 * may not read it.
 */
struct sym_wanted {
	const char *const *dirs;  /* absolute paths */
	const char *const *names; /* basenames; a name also stands for a kernel module */
	size_t nr_dirs, nr_names;
};

enum {
	SYM_FIND_ENTRIES = 200000, /* directory entries that are looked at, at most */
	SYM_FIND_PATHS = 10000,    /* files that are answered */
};

struct sym_found { /* one block: free() frees all */
	bool cut;  /* there was too much to look at all */
	size_t nr;
	const char *path[]; /* of regular files, each file once */
};

/* Is @file the module @name: NAME.ko, maybe packed, "_" spelled "-" or ","? */
bool sym_module_file(const char *file, const char *name);

/**
 * sym_find_encode - the search itself, in this process, which is a helper
 * @texts: @nr_dirs directories, then names, NUL-terminated, one behind the other
 * Appends the answer.  0, -EINVAL, -ENOMEM.
 */
int sym_find_encode(const char *texts, size_t len, size_t nr_dirs, struct strbuf *out,
		    struct err *err);
/* @data: untrusted bytes.  0, -EBADMSG, -ENOMEM. */
int sym_find_decode(const void *data, size_t len, struct sym_found **out,
		    struct err *err);

#endif
