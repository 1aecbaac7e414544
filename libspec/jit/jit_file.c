/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/jit/jit_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/file.h"
#include "libspec/jit/perf_map.h"

void spec_jit_path(uint32_t tgid, char out[SPEC_JIT_PATH])
{
	snprintf(out, SPEC_JIT_PATH, SPEC_JIT_DIR "/%" PRIu32, tgid);
}

size_t spec_jit_lines(const struct spec_jit_list *l, size_t first, size_t most,
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

static int open_to_append(int dir_fd, const char *name, int flags)
{
	int fd = openat(dir_fd, name,
			O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
				O_NOCTTY | flags,
			SPEC_JIT_FILE_MODE);

	return fd < 0 ? -errno : fd;
}

/* What the files of a session take. */
static int count_taken(int dir_fd, uint64_t *bytes)
{
	CLEANUP(names_fini) struct names list = { 0 };
	int rc = dirlist_read(dir_fd, &list);
	struct stat st;

	if (rc)
		return rc;
	*bytes = 0;
	for (size_t i = 0; i < list.len; i++)
		if (!fstatat(dir_fd, list.data[i], &st, AT_SYMLINK_NOFOLLOW))
			*bytes += (uint64_t)st.st_size;
	return 0;
}

/* Bytes up to the end of the last line that ends within @room. */
static uint64_t whole_lines(int from, uint64_t size, uint64_t room)
{
	char piece[2 * SPEC_JIT_NAME_MAX]; /* longer than any line */
	uint64_t at = room > sizeof(piece) ? room - sizeof(piece) : 0;
	const char *last;
	ssize_t n;

	if (size <= room)
		return size;
	n = file_pread_all(from, piece, (size_t)(room - at), (off_t)at);
	last = n > 0 ? memrchr(piece, '\n', (size_t)n) : NULL;
	return last ? at + (uint64_t)(last + 1 - piece) : 0;
}

static uint64_t count_lines(int from, uint64_t at)
{
	char piece[1 << 16];
	uint64_t lines = 0;
	ssize_t n;

	while ((n = file_pread_all(from, piece, sizeof(piece), (off_t)at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			lines += piece[i] == '\n';
		at += (uint64_t)n;
	}
	return lines;
}

static int copy(int fd, int from, uint64_t bytes)
{
	char piece[1 << 16];
	uint64_t off = 0;

	while (off < bytes) {
		size_t want = bytes - off < sizeof(piece) ? (size_t)(bytes - off)
							  : sizeof(piece);
		ssize_t n = file_pread_all(from, piece, want, (off_t)off);
		int rc = n < 0 ? (int)n : n ? file_write_all(fd, piece, (size_t)n) : -EIO;

		if (rc)
			return rc;
		off += (uint64_t)n;
	}
	return 0;
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

static int add_lines(int fd, off_t size, int from, uint64_t bytes)
{
	int rc = begin(fd, size);

	if (!rc)
		rc = copy(fd, from, bytes);
	return rc && ftruncate(fd, size) ? -errno : rc;
}

/* The file that lines are added to. */
struct target {
	int dir_fd, fd; /* @fd: -1 while it is missing */
	off_t size;
};

static void target_fini(struct target *t)
{
	close_fd(&t->fd);
	close_fd(&t->dir_fd);
}

static int open_target(struct target *t, int session_fd, const char *name)
{
	struct stat st;

	t->dir_fd = open_dir(session_fd);
	if (t->dir_fd < 0)
		return t->dir_fd;
	t->fd = open_to_append(t->dir_fd, name, 0);
	if (t->fd == -ENOENT)
		return 0;
	if (t->fd < 0 || fstat(t->fd, &st))
		return t->fd < 0 ? t->fd : -errno;
	t->size = st.st_size;
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

/* One that is made does not stay without lines. */
static int write_target(struct target *t, int session_fd, const char *name, int from,
			uint64_t bytes)
{
	bool made = t->fd < 0;
	int rc;

	if (made)
		t->fd = open_to_append(t->dir_fd, name, O_CREAT | O_EXCL);
	if (t->fd < 0)
		return t->fd;
	give_to_group(t->fd, session_fd);
	rc = add_lines(t->fd, t->size, from, bytes);
	if (rc && made)
		unlinkat(t->dir_fd, name, 0);
	return rc;
}

static uint64_t left_of(uint64_t most, uint64_t taken)
{
	return taken < most ? most - taken : 0;
}

static int tell_left_out(struct err *err, const char *path, uint64_t lines, bool session)
{
	return err_set(err, -EFBIG,
		       "%s: %" PRIu64 " entries left out: names of a %s may take %u MiB; "
		       "shorter sessions have room for more",
		       path, lines, session ? "session" : "process",
		       (session ? SPEC_JIT_SESSION_MAX : SPEC_JIT_FILE_MAX) >> 20);
}

int spec_jit_append(int session_fd, uint32_t tgid, int from, uint64_t *taken,
		    struct err *err)
{
	CLEANUP(target_fini) struct target t = { -1, -1, 0 };
	uint64_t of_file, of_session, room, bytes;
	char path[SPEC_JIT_PATH];
	const char *name = path + strlen(SPEC_JIT_DIR "/");
	struct stat more;
	int rc;

	spec_jit_path(tgid, path);
	rc = open_target(&t, session_fd, name);
	if (!rc && *taken == SPEC_JIT_NOT_COUNTED)
		rc = count_taken(t.dir_fd, taken);
	if (!rc && fstat(from, &more))
		rc = -errno;
	if (rc)
		return err_errno(err, rc, "%s", path);
	of_file = left_of(SPEC_JIT_LINES_MAX, (uint64_t)t.size);
	of_session = left_of(SPEC_JIT_SESSION_MAX, *taken);
	room = of_file < of_session ? of_file : of_session;
	bytes = whole_lines(from, (uint64_t)more.st_size, room);
	rc = bytes ? write_target(&t, session_fd, name, from, bytes) : 0;
	if (rc)
		return err_errno(err, rc, "%s", path);
	*taken += bytes;
	return bytes < (uint64_t)more.st_size
		       ? tell_left_out(err, path, count_lines(from, bytes),
				       of_session < of_file)
		       : 0;
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
