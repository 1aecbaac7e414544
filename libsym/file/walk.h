/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_WALK_H
#define LIBSYM_FILE_WALK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/cred.h"
#include "base/strbuf.h"

/*
 * Looks paths up step by step, so that the guard (libsym/file/guard.h) is asked at each
 * mount before anything else is.  A path is somebody else's word: it may lead anywhere.
 */

/* A place in the file system, found and not opened. */
struct sym_at {
	int fd; /* O_PATH; -1: none */
	dev_t dev;
	mode_t mode;
	uid_t uid;
	gid_t gid;
	bool autofs;
};

#define SYM_AT_NONE                                                                      \
	{                                                                                \
		.fd = -1                                                                 \
	}

void sym_at_fini(struct sym_at *at);

/**
 * sym_at_step - what a directory has under a name, a symbolic link not followed
 * @to: the caller's
 * 0; -EXDEV if that must not be looked at; another errno.
 */
int sym_at_step(const struct sym_at *from, const char *name, struct sym_at *to);

struct sym_walk {
	const char *top; /* its "/", which no link and no ".." leads out of; NULL: "/".
			  * If it is no directory, it is itself what is looked for. */
	const struct cred *cred; /* the user, if this process could not take his rights */
	struct sym_at at;        /* where the path led */
	struct strbuf real;      /* the path with its links resolved: all that were met */
	unsigned links;          /* that were met */
	struct strbuf todo;      /* private */
};

#define SYM_WALK_INIT(...)                                                               \
	{                                                                                \
		.at = SYM_AT_NONE, __VA_ARGS__                                           \
	}

/**
 * sym_walk - goes along an absolute path
 * 0; -ESRCH: there is no @top; -EXDEV: it leads where nothing may be looked at; -EACCES;
 * another errno.  Then @real ends in what is left of the path.
 */
int sym_walk(struct sym_walk *w, const char *path);
void sym_walk_fini(struct sym_walk *w);

#endif
