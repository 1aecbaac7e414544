/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_SAMPLE_FILE_H
#define LIBSPEC_SAMPLE_SAMPLE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/sample/guard.h"
#include "libspec/sample/sample_format.h"

/* For libspec's own use: sample files that are mapped, and how they are
 * made. */
struct spec_sample_file {
	int fd;     /* 0: none */
	void *base; /* the mapping, shared and writable; NULL: none */
	size_t len;
	struct spec_guard *guard; /* of the mapping */
};

/* Bytes of a file with @size slots. */
static inline size_t spec_sample_file_len(uint32_t size)
{
	return SPEC_SAMPLE_NODES_OFF +
	       (size_t)size * (sizeof(struct spec_sample_node) + sizeof(uint32_t));
}

/* Opens the regular file at @path for writing.  The descriptor, -ENOENT if there is none,
 * or another -errno. */
int spec_sample_file_open(int session_fd, const char *path, struct err *err);

/* Reserves blocks for and maps the first @len bytes of @f->fd.  0 or -errno. */
int spec_sample_file_map(struct spec_sample_file *f, size_t len, const char *path,
			 struct err *err);

enum { SPEC_SAMPLE_TMP_MAX = 40 };

/**
 * spec_sample_file_make - a new file in .new/, mapped, all zero
 * @path: what it will be, for messages
 * @tmp: receives its name, relative to @session_fd
 */
int spec_sample_file_make(int session_fd, const char *path, size_t len,
			  struct spec_sample_file *out, char tmp[SPEC_SAMPLE_TMP_MAX],
			  struct err *err);

/* Makes a new file in .new/ of these bytes, and waits until the disk has it.  0 or
 * -errno, and then it is gone. */
int spec_sample_file_write(int session_fd, const char *path, const void *data, size_t len,
			   char tmp[SPEC_SAMPLE_TMP_MAX], struct err *err);

/* Renames within @dirfd unless @to exists: 0, -EEXIST or another -errno. */
int spec_rename_new(int dirfd, const char *from, const char *to);

/* Puts @tmp at @path where nothing is; makes directories.  -EEXIST if something is. */
int spec_sample_file_publish(int session_fd, const char *tmp, const char *path,
			     struct err *err);

/* Accepts a zeroed one. */
void spec_sample_file_fini(struct spec_sample_file *f);

#endif
