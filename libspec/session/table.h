/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_TABLE_H
#define LIBSPEC_SESSION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/strbuf.h"

/*
 * For images and tasks: tables of tab-separated, %-escaped fields, a line a row, appended
 * to while others read.  A field is never empty; "-" means none.
 */
struct spec_table {
	const char *name;   /* file in the session's directory */
	const char *header; /* first line, without newline */
	size_t nr_fields;
	size_t nr_needed; /* rows of before have fewer fields, but these; 0: all */
	mode_t mode;      /* who may read it; 0: 0644 */
};

enum { SPEC_TABLE_MAX_FIELDS = 8 };

/**
 * spec_table_read - calls back for every whole row
 * @row: @fields are decoded, NULL for "-" and where there is none, and die after the
 *	call; returns 0, or -EBADMSG
 *	for a row that makes no sense and is passed over, or another -errno to stop
 * A missing table has no rows.  0, -EBADMSG for another file than @t, -EFBIG, -errno.
 */
int spec_table_read(const struct spec_table *t, int session_fd,
		    int (*row)(void *ctx, char *const *fields), void *ctx,
		    struct err *err);

/* Attributes of its file, which say who may see all rows; mode 0: there is none. */
void spec_table_stat(const struct spec_table *t, int session_fd, struct stat *out);
/* May the same people see all rows as when it was looked at? */
bool spec_table_same_readers(const struct spec_table *t, int session_fd,
			     const struct stat *was);

/* Appends a row, or several with newlines between them, in one write.  Makes the table if
 * it is missing, of the session's group; takes rights from one that gives more. */
int spec_table_append(const struct spec_table *t, int session_fd,
		      const struct strbuf *row, struct err *err);

/* Appends a field to a row that is being made.  NULL and "" are nothing. */
void spec_table_field(struct strbuf *row, const char *text);
void spec_table_number(struct strbuf *row, uint64_t n);

/* The number in a field that is not NULL. */
bool spec_table_parse(const char *field, uint64_t max, uint64_t *out);

#endif
