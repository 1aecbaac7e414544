/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"

/* Whole-file helpers.  @dirfd is a directory or AT_FDCWD. */

/**
 * file_open_within - opens what a directory of somebody else holds
 * @dirfd: the directory; with AT_FDCWD this is open(2)
 * @path: relative to it
 * Follows no symbolic link on the way and stays below @dirfd: whoever owns the directory
 * must not lead us to files that only we may read.  -ELOOP for a link.
 * Returns a descriptor, or -errno.
 */
int file_open_within(int dirfd, const char *path, int flags);
/* openat2(2), with O_CLOEXEC; @resolve: of RESOLVE_*.  A descriptor, or -errno: also
 * -ENOSYS or -EPERM in a sandbox that does not know it, for nothing else keeps that word.
 */
int file_open_resolved(int dirfd, const char *path, int flags, uint64_t resolve);
/* Does the path lead, through links too, to a directory, or to a regular file? */
bool file_is_dir(const char *path);
bool file_is_regular(const char *path);
/* Appends a file's content; -EFBIG if it holds more than @max bytes.  Opened as
 * file_open_within() does. */
int file_slurp(int dirfd, const char *path, size_t max, struct strbuf *out,
	       struct err *err);
/* The same from where an open file is read next; @name is for messages. */
int file_slurp_fd(int fd, const char *name, size_t max, struct strbuf *out,
		  struct err *err);
/* Writes all of it, through short writes and EINTR.  0 or -errno. */
int file_write_all(int fd, const void *data, size_t len);
/* Reads up to @len bytes, through short reads and EINTR; bytes read (short at the end),
 * or
 * -errno. */
ssize_t file_read_all(int fd, void *data, size_t len);
/* Reads up to @len bytes at @off, through short reads; bytes read (short at the end). */
ssize_t file_pread_all(int fd, void *data, size_t len, off_t off);
/* Replaces @path by new content: temporary file beside it, write, fsync if @sync,
 * rename. */
int file_replace(int dirfd, const char *path, const void *data, size_t len, mode_t mode,
		 int sync, struct err *err);
/* A new file without a name, for data too long for memory: in $TMPDIR, /var/tmp or /tmp.
 * Returns a descriptor, or -errno. */
int file_unnamed(void);
/* Allows this process as many descriptors as it may have; returns how many. */
size_t file_raise_limit(void);
/* mkdir -p; existing directories are fine. */
int file_mkdirs(int dirfd, const char *path, mode_t mode, struct err *err);
/* rm -r; a missing path is fine; never follows a symbolic link. */
int file_remove_tree(int dirfd, const char *path, struct err *err);

/* Is @path the directory @dir or in it?  Both are absolute and without "..". */
bool file_is_below(const char *path, const char *dir);

#endif
