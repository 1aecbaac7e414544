/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/jit/jit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/jit/perf_map.h"

void spec_jit_path(uint32_t tgid, char out[SPEC_JIT_PATH])
{
	snprintf(out, SPEC_JIT_PATH, SPEC_JIT_DIR "/%" PRIu32, tgid);
}

size_t spec_jit_some_lines(const struct spec_jit_list *l, size_t first, size_t most,
			   struct strbuf *out)
{
	size_t begin = out->len, at = first;

	for (; at < l->codes.len && !out->failed; at++) {
		const struct spec_jit_code *c = &l->codes.data[at];
		size_t before = out->len;

		strbuf_printf(out, "%" PRIx64 " %" PRIx64 " %s\n", c->start, c->size,
			      c->name);
		if (out->len - begin > most) {
			strbuf_truncate(out, before);
			break;
		}
	}
	return at;
}

void spec_jit_lines(const struct spec_jit_list *l, struct strbuf *out)
{
	spec_jit_some_lines(l, 0, SIZE_MAX, out);
}

/* ---- writing */

/* For the session's group, if we may give it to that. */
static void give_to_group(int fd, int session_fd)
{
	struct stat st;

	if (!fstat(session_fd, &st) && fchown(fd, (uid_t)-1, st.st_gid))
		return;
}

static int open_dir(int session_fd)
{
	int fd;

	if (mkdirat(session_fd, SPEC_JIT_DIR, 0755) && errno != EEXIST)
		return -errno;
	fd = file_open_within(session_fd, SPEC_JIT_DIR, O_RDONLY | O_DIRECTORY);
	if (fd >= 0)
		give_to_group(fd, session_fd);
	return fd;
}

static int open_to_append(int dir_fd, int session_fd, const char *name)
{
	int fd = openat(dir_fd, name,
			O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC |
				O_NONBLOCK | O_NOCTTY,
			SPEC_JIT_FILE_MODE);

	if (fd < 0)
		return -errno;
	give_to_group(fd, session_fd);
	return fd;
}

static int copy(int fd, int from)
{
	char piece[1 << 16];
	off_t off = 0;
	ssize_t n;
	int rc;

	while ((n = file_pread_all(from, piece, sizeof(piece), off)) > 0) {
		rc = file_write_all(fd, piece, (size_t)n);
		if (rc)
			return rc;
		off += n;
	}
	return n < 0 ? (int)n : 0;
}

/* The first line, or the end of a line that a kill cut short. */
static int begin(int fd, off_t size)
{
	char last;

	if (!size)
		return file_write_all(fd, SPEC_JIT_HEADER, strlen(SPEC_JIT_HEADER));
	if (pread(fd, &last, 1, size - 1) != 1 || last == '\n')
		return 0;
	return file_write_all(fd, "\n", 1);
}

int spec_jit_append(int session_fd, uint32_t tgid, int from, struct err *err)
{
	CLEANUP(close_fd) int dir_fd = open_dir(session_fd);
	CLEANUP(close_fd) int fd = -1;
	char path[SPEC_JIT_PATH];
	struct stat st, more;
	int rc;

	spec_jit_path(tgid, path);
	if (dir_fd < 0)
		return err_errno(err, dir_fd, SPEC_JIT_DIR);
	fd = open_to_append(dir_fd, session_fd, path + strlen(SPEC_JIT_DIR "/"));
	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	if (fstat(fd, &st) || fstat(from, &more))
		return err_errno(err, -errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, -EINVAL, "%s: not a regular file", path);
	if ((uint64_t)st.st_size + (uint64_t)more.st_size > SPEC_JIT_FILE_MAX - 64)
		return err_set(err, -EFBIG, "%s: names of more than %u MiB", path,
			       SPEC_JIT_FILE_MAX >> 20);
	rc = begin(fd, st.st_size);
	if (!rc)
		rc = copy(fd, from);
	if (rc && ftruncate(fd, st.st_size))
		return err_errno(err, -errno, "%s", path);
	return rc ? err_errno(err, rc, "%s", path) : 0;
}

/* ---- reading */

int spec_jit_parse(const char *text, size_t len, struct spec_jit_list *out,
		   uint64_t *overlapped, struct err *err)
{
	size_t header = strlen(SPEC_JIT_HEADER);
	int rc;

	if (len < header || memcmp(text, SPEC_JIT_HEADER, header) != 0)
		return err_set(err, -EBADMSG, "does not begin with \"%.*s\"",
			       (int)header - 1, SPEC_JIT_HEADER);
	rc = spec_jit_perf_map(text + header, len - header, out);
	if (!rc)
		rc = spec_jit_settle(out, overlapped);
	return rc ? err_errno(err, rc, "names of code") : 0;
}

int spec_jit_read(int session_fd, uint32_t tgid, struct spec_jit_list *out,
		  struct stat *st, uint64_t *overlapped, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(close_fd) int fd = -1;
	char path[SPEC_JIT_PATH];
	struct err why = { 0 };
	struct stat mine;
	int rc;

	spec_jit_path(tgid, path);
	fd = file_open_within(session_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_errno(err, fd, "%s", path);
	if (fstat(fd, st ? st : &mine))
		return err_errno(err, -errno, "%s", path);
	rc = file_slurp_fd(fd, path, SPEC_JIT_FILE_MAX, &text, &why);
	if (rc)
		return err_set(err, rc, "%s", why.msg);
	rc = spec_jit_parse(strbuf_str(&text), text.len, out, overlapped, &why);
	return rc ? err_set(err, rc, "%s: %s", path, why.msg) : 0;
}
