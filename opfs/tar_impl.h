/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TAR_IMPL_H
#define OPFS_TAR_IMPL_H

#include <nettle/sha2.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "libspec/manifest.h"
#include "opfs/tar.h"

/*
 * What the files tar*.c share.
 *	tar.c         members, layout, ranges
 *	tar_file.c    members that are files
 *	tar_header.c  tar headers
 *	tar_sums.c    checksums, the MANIFEST
 */
enum member_kind {
	MEMBER_BYTES,
	MEMBER_DIR,
	MEMBER_FILE,
	MEMBER_RANGE,
	MEMBER_MANIFEST,
};

struct member {
	const char *name;
	enum member_kind kind;
	bool executable, grows;
	int64_t mtime;
	uint64_t size;    /* bytes of content */
	uint64_t off;     /* of its header */
	uint32_t head;    /* bytes of its header */
	const char *data; /* BYTES; RANGE: what comes first, @data_len bytes */
	size_t data_len;
	int fd; /* FILE: directory of @path; RANGE: where the middle is */
	off_t fd_off;
	uint64_t fd_len;
	const char *path; /* FILE */
	uint64_t dev, ino;
	struct timespec mtim;
};

struct sums { /* of the members, in the order of the layout */
	pthread_mutex_t lock;
	struct sha256_ctx ctx;
	uint64_t at;   /* all before this offset of the archive is summed */
	size_t member; /* the first whose sum is not done */
	uint8_t (*done)[SPEC_SUM_BYTES];
	struct strbuf manifest; /* once all are done */
};

struct tar {
	VEC(struct member) members; /* by name once sealed; MANIFEST is the last */
	struct map names;
	struct arena arena;
	struct sums sums;
	uint64_t size;
	bool sealed;
};

/* ---- tar.c */

/* As tar_read(), but for the MANIFEST, without summing anything up. */
int tar_read_raw(struct tar *a, char *buf, size_t len, uint64_t off,
		 const atomic_bool *cancel);
/* A member that is described already, under the name of @info. */
int tar_add_member(struct tar *t, const struct tar_info *info, const struct member *m,
		   struct err *err);
uint64_t tar_content(const struct member *m); /* offset of the first byte */

/* ---- tar_file.c */

int tar_file_read(const struct member *m, char *buf, size_t len, uint64_t off);
bool tar_file_fresh(const struct member *m);

/* ---- tar_header.c */

/* Appends the header of a member.  0, -EINVAL, -ENOMEM. */
int tar_header(const struct member *m, struct strbuf *out, struct err *err);

/* ---- tar_sums.c */

int tar_sums_init(struct tar *a, struct err *err);
void tar_sums_fini(struct tar *a);
/* Length of the MANIFEST. */
uint64_t tar_sums_size(const struct tar *a);
/* Bytes of the archive that were read: summed up if they come next. */
void tar_sums_feed(struct tar *a, const char *buf, size_t len, uint64_t off);
/* Part of the MANIFEST; reads what was not summed up yet. */
int tar_sums_read(struct tar *a, char *buf, size_t len, uint64_t off,
		  const atomic_bool *cancel);

#endif
