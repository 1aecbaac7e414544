/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_ARCHIVE_TAR_HEADER_H
#define OPFS_REPORT_ARCHIVE_TAR_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/err.h"
#include "base/strbuf.h"

/* A member of a tar archive, and the bytes in front of its content. */
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
	bool executable, grows, for_all;
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

/* Appends the header of a member.  0, -EINVAL, -ENOMEM. */
int tar_header(const struct member *m, struct strbuf *out, struct err *err);

#endif
