/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FIND_H
#define LIBSYM_FIND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/job.h"
#include "libsym/server.h"

/*
 * Looks for binaries by basename in directories and all below them, for those that are
 * not where they were.  In a helper, with the rights of who asks: a directory may be a
 * dead or the own mount, or nobody else's business.
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

/**
 * sym_server_find - all files of some names
 * @cred: whose rights; NULL: this process's
 * Returns 0; -EINVAL if a directory cannot be read, with a message that names it; -EINTR;
 * -ENOMEM; -EIO if the helper came to an end, a dead directory for instance; another
 * errno if helpers cannot be started.
 */
int sym_server_find(struct sym_server *s, const struct sym_wanted *w,
		    const struct sym_cred *cred, const atomic_bool *cancel,
		    struct sym_found **out, struct err *err);

/* Is @file the module @name: NAME.ko, maybe packed, "_" spelled "-" or ","? */
bool sym_module_file(const char *file, const char *name);

/**
 * sym_find_encode - the search itself, in this process, which is a helper
 * @texts: @nr_dirs directories, then names, NUL-terminated, one behind the other
 * Appends the answer.  0, -EINVAL, -ENOMEM.
 */
int sym_find_encode(const char *texts, size_t len, size_t nr_dirs, struct strbuf *out,
		    struct err *err);
/* @data: bytes that nobody vouches for.  0, -EBADMSG, -ENOMEM. */
int sym_find_decode(const void *data, size_t len, struct sym_found **out,
		    struct err *err);

#endif
