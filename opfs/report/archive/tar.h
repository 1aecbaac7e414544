/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_ARCHIVE_TAR_H
#define OPFS_REPORT_ARCHIVE_TAR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"

/*
 * A tar archive that never exists as a whole: the offsets of each member and its header
 * are settled once, then any range of bytes is made from the members' files.  Its last
 * member, MANIFEST, has the SHA-256 of all others (libspec/session/manifest.h); they are
 * computed on the way while somebody reads the archive from its beginning.
 * Members are added, then tar_seal() settles the layout; afterwards any thread may read.
 */
struct tar;

/*
 * Opens a regular file by its path, for who asks for the archive.  @for_all: only if
 * everybody may read it.  A descriptor, or -errno with a message.
 */
typedef int tar_open(void *ctx, const char *path, bool for_all, struct err *err);

/* Why a file is not for everybody. */
#define TAR_NOT_FOR_ALL                                                                  \
	"%.300s: not everybody may read it, which an archive would let them"

/* @open: for files that are in no directory of ours; called with @ctx, by any thread,
 * while there is the archive. */
int tar_new(tar_open *open, void *ctx, struct tar **out, struct err *err);
void tar_free(struct tar *a); /* NULL is fine */

/* The name of a member, and its attributes when tar -x extracts it. */
struct tar_info {
	const char *name; /* relative, any bytes; a second member of a name is skipped */
	bool executable;
	int64_t mtime; /* seconds; a file has its own */
};

/* Those that add return 0, or -ENOMEM. */

/* A member of bytes, which are copied. */
int tar_add_bytes(struct tar *a, const struct tar_info *info, const void *data,
		  size_t len, struct err *err);
/* A directory; @info->name ends in "/". */
int tar_add_dir(struct tar *a, const struct tar_info *info, struct err *err);

/* Conditions on a file when it is added; if it was replaced later it is not delivered. */
struct tar_want {
	uint64_t dev, ino; /* 0, 0: whichever is there */
	bool grows;        /* may be appended to: what is there now counts */
	bool elf;          /* must begin as ELF files do */
	bool text;         /* must not; nor be kept from others who do not own it */
	uint64_t max_size; /* 0: any */
};

/**
 * tar_add_file - a member that is read from a file when it is asked for
 * @dirfd: lives as long as @a: @path is below it, no link on the way; or AT_FDCWD: @path
 *	is opened as tar_new() was told
 * Returns 0; -EINVAL, -ENOENT, -EACCES ... with the reason: it is not added.
 */
int tar_add_file(struct tar *a, const struct tar_info *info, int dirfd, const char *path,
		 const struct tar_want *want, struct err *err);

/**
 * tar_add_range - a member made of some bytes, a part of a file, and zeros
 * @fd: lives as long as @a; that part of it must not change
 */
int tar_add_range(struct tar *a, const struct tar_info *info, const struct strbuf *head,
		  int fd, off_t off, uint64_t len, uint64_t zeros, struct err *err);

bool tar_has(const struct tar *a, const char *name);

/**
 * tar_seal - settles the layout; no member can be added any more
 * @mtime: of MANIFEST
 * Returns 0; -EINVAL if a member cannot have a header; -EFBIG; -ENOMEM.
 */
int tar_seal(struct tar *a, int64_t mtime, struct err *err);
uint64_t tar_size(const struct tar *a);

/*
 * Fills @buf from @off, all of it in the archive.  -EIO, told in the log, if a file is
 * not what it was any more; -EINTR once *@cancel is true (@cancel may be NULL).
 */
int tar_read(struct tar *a, char *buf, size_t len, off_t off, const atomic_bool *cancel);
/* True if every file still is what it was. */
bool tar_fresh(struct tar *a);

#endif
