/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/number.h"
#include "libspec/sample/sample_file.h"

#define MAX_TABLE ((size_t)1 << 28)

bool spec_table_parse(const char *field, uint64_t max, uint64_t *out)
{
	if (field && !*field) {
		*out = 0;
		return true;
	}
	return field && number_parse(field, 10, max, out);
}

void spec_table_field(struct strbuf *row, const char *text)
{
	if (row->len)
		strbuf_putc(row, '\t');
	if (!text || !*text)
		strbuf_putc(row, '-');
	else if (!strcmp(text, "-"))
		strbuf_puts(row, "%2D");
	else
		escape_add(row, text, strlen(text), escape_plain_field);
}

void spec_table_number(struct strbuf *row, uint64_t n)
{
	strbuf_printf(row, "%s%" PRIu64, row->len ? "\t" : "", n);
}

/* Decodes a field in place; NULL for "-". */
static char *decode(char *s, size_t len)
{
	size_t to = 0;

	if (len == 1 && *s == '-')
		return NULL;
	for (size_t i = 0; i < len; i++) {
		int byte = escape_byte(s + i, len - i);

		s[to++] = byte > 0 ? (char)byte : s[i];
		if (byte > 0)
			i += 2;
	}
	s[to] = '\0';
	return s;
}

/* Takes a line apart; false if it has too few or too many fields, or empty ones. */
static bool split(const struct spec_table *t, char *line, char **fields)
{
	bool last = false;
	size_t nr = 0;

	memset(fields, 0, t->nr_fields * sizeof(*fields));
	while (!last) {
		size_t len = strcspn(line, "\t");

		if (!len || nr == t->nr_fields)
			return false;
		last = !line[len];
		line[len] = '\0';
		fields[nr++] = decode(line, len);
		line += len + 1;
	}
	return nr >= (t->nr_needed ? t->nr_needed : t->nr_fields);
}

static int each_row(const struct spec_table *t, char *at,
		    int (*row)(void *ctx, char *const *fields), void *ctx)
{
	char *fields[SPEC_TABLE_MAX_FIELDS];

	for (char *end; (end = strchr(at, '\n')); at = end + 1) {
		int rc = 0;

		*end = '\0';
		if (split(t, at, fields))
			rc = row(ctx, fields);
		if (rc && rc != -EBADMSG)
			return rc;
	}
	return 0;
}

int spec_table_read(const struct spec_table *t, int session_fd,
		    int (*row)(void *ctx, char *const *fields), void *ctx,
		    struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	size_t header = strlen(t->header);
	struct err why = { 0 };
	int rc = file_slurp(session_fd, t->name, MAX_TABLE, &text, &why);

	if (rc == -ENOENT)
		return 0;
	if (rc)
		return err_set(err, rc, "%s", why.msg);
	if (!text.len)
		return 0;
	if (text.len <= header || text.data[header] != '\n' ||
	    memcmp(text.data, t->header, header) != 0)
		return err_set(err, -EBADMSG, "%s: does not begin with \"%s\"", t->name,
			       t->header);
	rc = each_row(t, text.data + header + 1, row, ctx);
	return rc ? err_errno(err, rc, "%s", t->name) : 0;
}

static mode_t mode_of(const struct spec_table *t)
{
	return t->mode ? t->mode : 0644;
}

/* Its group is the session's, if we may give it to that. */
static void give_to_group(int fd, int session_fd)
{
	struct stat st;

	if (!fstat(session_fd, &st) && fchown(fd, (uid_t)-1, st.st_gid))
		return;
}

/* Makes the table with its first line, whole, unless it is there. */
static int make(const struct spec_table *t, int session_fd)
{
	char tmp[64], line[64];
	int n = snprintf(line, sizeof(line), "%s\n", t->header);
	int fd, rc;

	snprintf(tmp, sizeof(tmp), ".%s.%d", t->name, (int)getpid());
	fd = openat(session_fd, tmp,
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode_of(t));
	if (fd < 0)
		return -errno;
	give_to_group(fd, session_fd);
	rc = file_write_all(fd, line, (size_t)n);
	close(fd);
	if (!rc)
		rc = spec_rename_new(session_fd, tmp, t->name);
	if (rc)
		unlinkat(session_fd, tmp, 0);
	return rc == -EEXIST ? 0 : rc;
}

/* From one of before, which all could read. */
static void take_rights(int fd, const struct spec_table *t)
{
	struct stat st;

	if (!fstat(fd, &st) && st.st_mode & 0777 & ~mode_of(t) &&
	    fchmod(fd, st.st_mode & mode_of(t)))
		return;
}

static int open_table(const struct spec_table *t, int session_fd)
{
	int flags = O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	int fd = openat(session_fd, t->name, flags);
	int rc;

	if (fd >= 0)
		take_rights(fd, t);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? -errno : fd;
	rc = make(t, session_fd);
	if (rc)
		return rc;
	fd = openat(session_fd, t->name, flags);
	return fd < 0 ? -errno : fd;
}

/*
 * What must go before a row: nothing; the first line, where a power failure left an empty
 * file; or the end of a line that a kill or a full disk cut short.  The tab makes sure
 * that the rest of it is not taken for a row: one field too many, or an empty one.
 */
static void begin(int fd, const struct spec_table *t, struct strbuf *line)
{
	struct stat st;
	char last;

	if (fstat(fd, &st))
		return;
	if (!st.st_size)
		strbuf_printf(line, "%s\n", t->header);
	else if ((size_t)st.st_size > strlen(t->header) &&
		 pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n')
		strbuf_puts(line, "\t\n");
}

void spec_table_stat(const struct spec_table *t, int session_fd, struct stat *out)
{
	if (fstatat(session_fd, t->name, out, AT_SYMLINK_NOFOLLOW))
		*out = (struct stat){ 0 };
}

bool spec_table_same_readers(const struct spec_table *t, int session_fd,
			     const struct stat *was)
{
	struct stat now;

	spec_table_stat(t, session_fd, &now);
	return now.st_mode == was->st_mode && now.st_uid == was->st_uid &&
	       now.st_gid == was->st_gid;
}

int spec_table_append(const struct spec_table *t, int session_fd,
		      const struct strbuf *row, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf line = { 0 };
	CLEANUP(close_fd) int fd = open_table(t, session_fd);
	int rc;

	if (fd < 0)
		return err_errno(err, fd, "%s", t->name);
	begin(fd, t, &line);
	strbuf_add(&line, strbuf_str(row), row->len);
	strbuf_putc(&line, '\n');
	rc = strbuf_error(row) ? -ENOMEM : strbuf_error(&line);
	if (!rc)
		rc = file_write_all(fd, line.data, line.len);
	return rc ? err_errno(err, rc, "%s", t->name) : 0;
}
