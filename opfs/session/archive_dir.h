/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_ARCHIVE_DIR_H
#define OPFS_SESSION_ARCHIVE_DIR_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"

/*
 * Files of the machine that was sampled, each at its path below one directory.  That is
 * SESSION_DIR/archive where archive.tar was unpacked; for an archive of OProfile's
 * oparchive, whose session directory is its var/lib/oprofile, it is the archive itself.
 * Files there are used instead of this machine's.  A zeroed one is none.
 */
struct archive_dir {
	const char *root;         /* absolute, no slash at its end; NULL: none */
	struct sym_places places; /* for binaries that are in it */
	struct sym_places kernel; /* for those that are not, if it has kernel symbols */
	bool has_kernel;
};

#define ARCHIVE_DIR "archive"                   /* below a session directory */
#define ARCHIVE_DIR_OPROFILE "var/lib/oprofile" /* session directory of an oparchive */

/**
 * archive_dir_init - finds out what the archive has
 * @root: NULL or the directory, if it is one; copied
 * Returns 0 or -ENOMEM.
 */
int archive_dir_init(struct archive_dir *a, const char *root, struct arena *arena);

/* Appends the path in the archive of @path of the sampled machine.  False, nothing
 * appended: no archive, or a path that cannot be in one (not absolute, "..", an empty
 * component). */
bool archive_dir_path(const struct archive_dir *a, const char *path, struct strbuf *out);

/* @text without the archive's directory at its beginning: a path, or a message that
 * begins with one.  A vdso is just "[vdso]". */
const char *archive_dir_shown(const struct archive_dir *a, const char *text);

/* Appends the path of a vdso in an archive. */
void archive_dir_vdso(const struct build_id *id, struct strbuf *out);

/**
 * archive_dir_job - makes a job load the archive's file if there is one
 * @job: of this machine; its strings and places are then of @a and @arena
 * Returns 0 or -ENOMEM.
 */
int archive_dir_job(const struct archive_dir *a, struct sym_job *job,
		    struct arena *arena);

/* Can @path be in an archive? */
bool archive_dir_takes(const char *path);

#endif
