/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_SESSION_H
#define LIBSPEC_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "libspec/name/name.h"

/* Session directories: SESSION_DIR/samples/NAME/{root},{kern},stats/,images,tasks. */

/* SESSION_DIR/symbols: names that were kept for its sessions, a file for each image. */
#define SPEC_SYMBOLS_DIR "symbols"

enum spec_session_from {
	SPEC_SESSION_GIVEN,
	SPEC_SESSION_ENV,    /* $OPFS_SESSION_DIR, if it is not empty */
	SPEC_SESSION_HERE,   /* ./oprofile_data, if that is a directory */
	SPEC_SESSION_SYSTEM, /* /var/lib/oprofile */
};

/**
 * spec_session_dir - which session directory a program reads
 * @given: --session-dir, or NULL
 * Appends the path, that of ./oprofile_data absolute if the current directory has one.
 * Returns what it is from: the first of those above that there is.
 */
enum spec_session_from spec_session_dir(const char *given, struct strbuf *out);
/* Which one a program records into: @given, $OPFS_SESSION_DIR or ./oprofile_data. */
const char *spec_session_dir_to_write(const char *given);

/* Is this the name of something else in the root of paths (root_list.h)?  A session that
 * is called so is found as it is listed only: "%52EADME". */
bool spec_session_is_hidden(const char *name);

/*
 * Where several users may store sessions and others read them, a link among them leads
 * where only the reading process may go, and what is mounted there may never answer.
 * Then @trusted names a user: only links of this one and root's are followed, and no
 * mount is entered but through them.  NULL: all are.
 */

/* Is what @owner stored or linked there trusted? */
bool spec_session_trusts(const uid_t *trusted, uid_t owner);

/* SESSION_DIR/samples: a descriptor, or -errno.  Links are followed here: a session
 * directory may be elsewhere. */
int spec_session_samples(int session_dir_fd);

/**
 * spec_session_at - the directory samples/NAME
 * @name: without a slash
 * Returns a descriptor of O_PATH, or -errno; -ELOOP: a link, and -EXDEV: a mount, that is
 * not @trusted.
 */
int spec_session_at(int samples_fd, const char *name, const uid_t *trusted);
/* The same, opened for reading. */
int spec_session_open(int samples_fd, const char *name, const uid_t *trusted);
/* Its attributes: 0 or -errno, as above. */
int spec_session_stat(int samples_fd, const char *name, const uid_t *trusted,
		      struct stat *st);

/* Sessions in SESSION_DIR/samples, each a directory, sorted by name, without those whose
 * names begin with ".".  0, -ENOENT without samples/, or -errno. */
int spec_session_list(int session_dir_fd, const uid_t *trusted, struct names *out,
		      struct err *err);
/* The same, of SESSION_DIR/samples itself. */
int spec_session_names(int samples_fd, const uid_t *trusted, struct names *out,
		       struct err *err);

/* What a rotation calls directories in samples/ for moments: the session that is to
 * become "current", which after the exchange is what was "current" and has no name yet;
 * and the latter where the file system cannot exchange. */
#define SPEC_SESSION_NEXT ".next"
#define SPEC_SESSION_LAST ".last"

/* One file met by a walk. */
struct spec_session_file {
	const char *path; /* relative to the session; dies after the callback */
	/* The directory it is in, and its name there, which is faster to open; @bad: not
	 * set. */
	int dirfd;
	const char *leaf;
	struct spec_name *name; /* parsed; NULL if @bad; the callback may TAKE() *name */
	const struct err *bad;  /* why this path is no sample file, or NULL */
};

/**
 * spec_session_walk - visits every sample file of a session, in sorted order
 * @session_fd: directory samples/NAME
 * Only {root} and {kern} are entered, .jo files are passed over, symbolic links and
 * mounts are not followed, nesting is bounded.  A path that is no sample file's, and a
 * directory that cannot be read, is given to @visit with @bad set.
 * Stops when @visit returns non-zero, and returns that.  Otherwise 0 (also for a session
 * without samples), -ENOMEM or -errno of the session's own directory.
 */
int spec_session_walk(int session_fd, bool escaped,
		      int (*visit)(void *ctx, struct spec_session_file *file), void *ctx,
		      struct err *err);

/* True if the session has a table "images": its names are escaped. */
bool spec_session_escaped(int session_fd);

#endif
