/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/tar.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/map.h"
#include "base/thread.h"
#include "base/vec.h"
#include "base/viewer.h"
#include "libspec/session/manifest.h"
#include "libsym/file/identity.h"
#include "opfs/report/archive/tar_header.h"

struct sums { /* of the members, in the order of the layout */
	pthread_mutex_t lock;
	struct sha256_ctx ctx;
	uint64_t at;   /* everything before this offset of the archive is summed */
	size_t member; /* the first member whose sum is not done */
	uint8_t (*done)[SPEC_SUM_BYTES];
	struct strbuf manifest; /* once all are done */
};

struct tar {
	VEC(struct member) members; /* by name once sealed; MANIFEST is the last */
	struct map names;
	struct arena arena;
	struct sums sums;
	tar_open *open;
	void *ctx;
	pthread_mutex_t lock;      /* over the two below */
	const struct member *last; /* the member that was read last */
	int last_fd;               /* -1: none */
	uint64_t size;
	bool sealed;
};

/* ---- members */

/*
 * Files are not held open, since there may be very many, but for the one that was read
 * last: another read opens its own again, and checks that it is still the one that was
 * measured.
 */

static const char elf_magic[4] = "\177ELF";

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while making an archive");
}

static int add(struct tar *a, const struct tar_info *info, struct member m,
	       struct err *err)
{
	if (tar_has(a, info->name))
		return 0;
	m.name = arena_strdup(&a->arena, info->name);
	m.executable = info->executable;
	m.mtime = m.kind == MEMBER_FILE ? m.mtim.tv_sec : info->mtime;
	if (!m.name || vec_push(&a->members, m) ||
	    map_set(&a->names, m.name, strlen(m.name), 1))
		return no_memory(err);
	return 0;
}

bool tar_has(const struct tar *a, const char *name)
{
	uint64_t found;

	return map_get(&a->names, name, strlen(name), &found);
}

int tar_add_bytes(struct tar *a, const struct tar_info *info, const void *data,
		  size_t len, struct err *err)
{
	struct member m = { .kind = MEMBER_BYTES, .size = len, .data_len = len };

	m.data = arena_memdup(&a->arena, data, len);
	return m.data ? add(a, info, m, err) : no_memory(err);
}

int tar_add_dir(struct tar *a, const struct tar_info *info, struct err *err)
{
	return add(a, info, (struct member){ .kind = MEMBER_DIR }, err);
}

int tar_add_range(struct tar *a, const struct tar_info *info, const struct strbuf *head,
		  int fd, off_t off, uint64_t len, uint64_t zeros, struct err *err)
{
	struct member m = { .kind = MEMBER_RANGE,
			    .size = head->len + len + zeros,
			    .data_len = head->len,
			    .fd = fd,
			    .fd_off = off,
			    .fd_len = len };

	m.data = arena_memdup(&a->arena, strbuf_str(head), head->len);
	return m.data ? add(a, info, m, err) : no_memory(err);
}

static int open_file(const struct tar *t, const struct member *m, struct stat *st,
		     struct err *err)
{
	CLEANUP(close_fd) int fd = -1;

	if (m->fd == AT_FDCWD) {
		fd = t->open(t->ctx, m->path, m->for_all, err);
		if (fd < 0)
			return fd;
	} else {
		fd = file_open_within(m->fd, m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0)
			return err_errno(err, fd, "%.300s", m->path);
	}
	if (fstat(fd, st))
		return err_errno(err, -errno, "%.300s", m->path);
	if (!S_ISREG(st->st_mode))
		return err_set(err, -EINVAL, "%.300s: is not a regular file", m->path);
	return take_fd(&fd);
}

/*
 * Nobody publishes by mistake a file that a hostile binary names as its source: root's
 * archive has only what everybody may read.
 */
static bool is_secret(const struct stat *st)
{
	return !(st->st_mode & S_IROTH) && (st->st_uid != geteuid() || !geteuid());
}

static int check(int fd, const char *path, const struct stat *st,
		 const struct tar_want *want, struct err *err)
{
	char magic[sizeof(elf_magic)] = { 0 };
	bool elf;

	if ((want->dev || want->ino) &&
	    (want->dev != st->st_dev || want->ino != st->st_ino))
		return err_set(err, -ESTALE, "%.300s: was replaced just now", path);
	if (want->max_size && (uint64_t)st->st_size > want->max_size)
		return err_set(err, -EFBIG, "%.300s: is too large", path);
	if (!want->elf && !want->text)
		return 0;
	elf = file_pread_all(fd, magic, sizeof(magic), 0) == sizeof(magic) &&
	      !memcmp(magic, elf_magic, sizeof(magic));
	if (want->elf && !elf)
		return err_set(err, -EINVAL, "%.300s: is no ELF file", path);
	if (want->text && elf)
		return err_set(err, -EACCES, "%.300s: is a binary, not a source", path);
	if (want->text && is_secret(st))
		return err_set(err, -EACCES, TAR_NOT_FOR_ALL, path);
	return 0;
}

int tar_add_file(struct tar *t, const struct tar_info *info, int dirfd, const char *path,
		 const struct tar_want *want, struct err *err)
{
	struct member m = { .kind = MEMBER_FILE,
			    .fd = dirfd,
			    .path = path,
			    .grows = want->grows,
			    .for_all = want->text };
	struct stat st;
	CLEANUP(close_fd) int fd = open_file(t, &m, &st, err);
	int rc;

	if (fd < 0)
		return fd;
	rc = check(fd, path, &st, want, err);
	if (rc)
		return rc;
	m.size = (uint64_t)st.st_size;
	m.dev = st.st_dev;
	m.ino = st.st_ino;
	m.mtim = st.st_mtim;
	m.path = arena_strdup(&t->arena, path);
	return m.path ? add(t, info, m, err) : err_set(err, -ENOMEM, "out of memory");
}

static bool is_same(const struct member *m, const struct stat *st)
{
	if (m->dev != st->st_dev || m->ino != st->st_ino || !st->st_nlink)
		return false;
	if (m->grows)
		return (uint64_t)st->st_size >= m->size;
	return (uint64_t)st->st_size == m->size && m->mtim.tv_sec == st->st_mtim.tv_sec &&
	       m->mtim.tv_nsec == st->st_mtim.tv_nsec;
}

static bool tar_file_fresh(const struct tar *t, const struct member *m)
{
	CLEANUP(close_fd) int fd = -1;
	struct stat st;

	if (m->fd != AT_FDCWD)
		return !fstatat(m->fd, m->path, &st, 0) && is_same(m, &st);
	fd = sym_open_cached(m->path);
	if (fd < 0) /* the server must not wait for it */
		fd = open_file(t, m, &st, NULL);
	return fd >= 0 && !fstat(fd, &st) && is_same(m, &st);
}

/* The file of a member, for one reader: that of the last one, or opened. */
static int take_file(struct tar *t, const struct member *m, struct err *err)
{
	struct stat st;
	int fd = -1;

	pthread_mutex_lock(&t->lock);
	if (t->last == m)
		fd = take_fd(&t->last_fd);
	pthread_mutex_unlock(&t->lock);
	return fd >= 0 ? fd : open_file(t, m, &st, err);
}

static void keep_file(struct tar *t, const struct member *m, int fd)
{
	pthread_mutex_lock(&t->lock);
	close_fd(&t->last_fd);
	t->last = m;
	t->last_fd = fd;
	pthread_mutex_unlock(&t->lock);
}

static int tar_file_read(struct tar *t, const struct member *m, char *buf, size_t len,
			 uint64_t off)
{
	struct err err = { 0 };
	struct stat st;
	bool same;
	int fd = take_file(t, m, &err);

	if (fd < 0) {
		log_err("archive.tar: %s", err.msg);
		return -EIO;
	}
	same = file_pread_all(fd, buf, len, (off_t)off) == (ssize_t)len &&
	       !fstat(fd, &st) && is_same(m, &st);
	keep_file(t, m, fd);
	if (same)
		return 0;
	log_err("archive.tar: %s: is not any more what it was when the archive was "
		"opened: "
		"read the archive again",
		m->path);
	return -EIO;
}

/*
 * One pass over the archive, from its beginning: bytes that somebody reads are summed up
 * if they are the next, or nearly so.  The rest is summed up when the MANIFEST is read.
 */
enum { CHUNK = 128 << 10, NEARLY = 8 << 20 };

static uint64_t tar_content(const struct member *m)
{
	return m->off + m->head;
}

static int tar_sums_init(struct tar *a, struct err *err)
{
	a->sums.done = calloc(a->members.len, sizeof(*a->sums.done));
	sha256_init(&a->sums.ctx);
	return a->sums.done ? 0 : err_set(err, -ENOMEM, "out of memory");
}

static void tar_sums_fini(struct tar *a)
{
	free(a->sums.done);
	strbuf_fini(&a->sums.manifest);
}

static bool is_summed(const struct member *m)
{
	return m->kind != MEMBER_DIR && m->kind != MEMBER_MANIFEST;
}

/* ---- the text of MANIFEST */

static void make_manifest(const struct tar *a, struct strbuf *out)
{
	spec_manifest_begin(out);
	for (size_t i = 0; i < a->members.len; i++)
		if (is_summed(&a->members.data[i]))
			spec_manifest_line(out, a->sums.done[i], a->members.data[i].name);
	spec_manifest_end(out);
}

/* Length of the MANIFEST. */
static uint64_t tar_sums_size(const struct tar *a)
{
	uint64_t size = spec_manifest_frame_len();

	vec_for(&a->members, m)
		if (is_summed(m))
			size += spec_manifest_line_len(m->name);
	return size;
}

/* ---- summing; the lock is held */

static const struct member *current(const struct tar *a)
{
	return &a->members.data[a->sums.member];
}

/* Ends members that have no more bytes before s->at. */
static void end_members(struct tar *a)
{
	struct sums *s = &a->sums;

	while (current(a)->kind != MEMBER_MANIFEST &&
	       tar_content(current(a)) + current(a)->size <= s->at) {
		sha256_digest(&s->ctx, SPEC_SUM_BYTES, s->done[s->member]);
		s->member++;
	}
}

/* Bytes at s->at. */
static void advance(struct tar *a, const char *buf, size_t len)
{
	struct sums *s = &a->sums;
	uint64_t end = s->at + len;

	while (s->at < end && current(a)->kind != MEMBER_MANIFEST) {
		const struct member *m = current(a);
		uint64_t first = tar_content(m), last = first + m->size;
		uint64_t to = last < end ? last : end;

		if (s->at < first) { /* headers and padding */
			to = first < end ? first : end;
		} else {
			sha256_update(&s->ctx, to - s->at, (const uint8_t *)buf);
		}
		buf += to - s->at;
		s->at = to;
		end_members(a);
	}
}

static int tar_read_raw(struct tar *a, char *buf, size_t len, uint64_t off,
			const atomic_bool *cancel);

/* Reads and sums up to @end, except for the MANIFEST: it is read with this lock held. */
static int catch_up(struct tar *a, uint64_t end, const atomic_bool *cancel)
{
	uint64_t manifest = a->members.data[a->members.len - 1].off;
	char *chunk = malloc(CHUNK);
	int rc = chunk ? 0 : -ENOMEM;

	end = end < manifest ? end : manifest;
	while (!rc && a->sums.at < end && current(a)->kind != MEMBER_MANIFEST) {
		uint64_t left = end - a->sums.at;
		size_t n = left < CHUNK ? (size_t)left : CHUNK;

		rc = is_cancelled(cancel) ? -EINTR
					  : tar_read_raw(a, chunk, n, a->sums.at, cancel);
		if (!rc)
			advance(a, chunk, n);
	}
	free(chunk);
	return rc;
}

/* A reader of other members never waits for one that computes sums. */
static void tar_sums_feed(struct tar *a, const char *buf, size_t len, uint64_t off)
{
	struct sums *s = &a->sums;
	uint64_t end = off + len;

	if (pthread_mutex_trylock(&s->lock))
		return;
	if (off > s->at && off - s->at <= NEARLY)
		catch_up(a, off, NULL);
	if (off <= s->at && s->at < end)
		advance(a, buf + (s->at - off), end - s->at);
	pthread_mutex_unlock(&s->lock);
}

/* Reads a part of the MANIFEST; first sums up what was not summed up yet. */
static int tar_sums_read(struct tar *a, char *buf, size_t len, uint64_t off,
			 const atomic_bool *cancel)
{
	struct sums *s = &a->sums;
	int rc = thread_lock(&s->lock, cancel);

	if (rc)
		return rc;
	end_members(a); /* empty ones at the very end */
	rc = catch_up(a, UINT64_MAX, cancel);
	if (!rc && !s->manifest.len)
		make_manifest(a, &s->manifest);
	rc = rc ? rc : strbuf_error(&s->manifest);
	if (!rc && off + len > s->manifest.len)
		rc = -EIO;
	if (!rc)
		memcpy(buf, s->manifest.data + off, len);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* Content is filled up to whole blocks; two empty ones end an archive. */
enum { BLOCK = 512, END_BYTES = 2 * BLOCK };

int tar_new(tar_open *open, void *ctx, struct tar **out, struct err *err)
{
	struct tar *a = calloc(1, sizeof(*a));

	if (!a)
		return no_memory(err);
	pthread_mutex_init(&a->sums.lock, NULL);
	pthread_mutex_init(&a->lock, NULL);
	a->open = open;
	a->ctx = ctx;
	a->last_fd = -1;
	*out = a;
	return 0;
}

void tar_free(struct tar *a)
{
	if (!a)
		return;
	tar_sums_fini(a);
	pthread_mutex_destroy(&a->sums.lock);
	pthread_mutex_destroy(&a->lock);
	close_fd(&a->last_fd);
	map_fini(&a->names);
	vec_fini(&a->members);
	arena_fini(&a->arena);
	free(a);
}

/* ---- layout */

static int compare_names(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	return strcmp(a->name, b->name);
}

static uint64_t blocks(uint64_t size)
{
	return (size + BLOCK - 1) / BLOCK * BLOCK;
}

static int lay_out(struct tar *a, struct err *err)
{
	struct strbuf head = { 0 };
	uint64_t at = 0;
	int rc = 0;

	vec_for(&a->members, m) {
		if (m->kind == MEMBER_MANIFEST)
			m->size = tar_sums_size(a);
		strbuf_reset(&head);
		rc = tar_header(m, &head, err);
		if (rc)
			break;
		m->off = at;
		m->head = (uint32_t)head.len;
		at += head.len;
		if (m->size > INT64_MAX / 2 || at > INT64_MAX / 2 - blocks(m->size)) {
			rc = err_set(err, -EFBIG, "an archive cannot be that large");
			break;
		}
		at += blocks(m->size);
	}
	strbuf_fini(&head);
	a->size = at + END_BYTES;
	return rc;
}

int tar_seal(struct tar *a, int64_t mtime, struct err *err)
{
	const struct tar_info info = { .name = SPEC_MANIFEST, .mtime = mtime };
	int rc;

	if (a->members.len)
		qsort(a->members.data, a->members.len, sizeof(*a->members.data),
		      compare_names);
	rc = add(a, &info, (struct member){ .kind = MEMBER_MANIFEST }, err);
	rc = rc ? rc : tar_sums_init(a, err);
	rc = rc ? rc : lay_out(a, err);
	a->sealed = !rc;
	return rc;
}

uint64_t tar_size(const struct tar *a)
{
	return a->size;
}

/* ---- ranges */

static size_t at_most(uint64_t have, size_t want)
{
	return have < want ? (size_t)have : want;
}

static int read_header(const struct member *m, char *buf, size_t len, uint64_t off)
{
	struct strbuf head = { 0 };
	int rc = tar_header(m, &head, NULL);

	if (!rc && head.len == m->head)
		memcpy(buf, head.data + off, len);
	else
		rc = rc ? rc : -EIO;
	strbuf_fini(&head);
	return rc;
}

/* The bytes first, then the part of the file, then zeros. */
static int read_range(const struct member *m, char *buf, size_t len, uint64_t off)
{
	size_t n = off < m->data_len ? at_most(m->data_len - off, len) : 0;
	uint64_t in;

	memcpy(buf, m->data + (n ? off : 0), n);
	buf += n;
	len -= n;
	in = off + n - m->data_len;
	n = in < m->fd_len ? at_most(m->fd_len - in, len) : 0;
	if (n && file_pread_all(m->fd, buf, n, m->fd_off + (off_t)in) != (ssize_t)n)
		return -EIO;
	memset(buf + n, 0, len - n);
	return 0;
}

static int read_content(struct tar *a, const struct member *m, char *buf, size_t len,
			uint64_t off, const atomic_bool *cancel)
{
	switch (m->kind) {
	case MEMBER_BYTES:
		memcpy(buf, m->data + off, len);
		return 0;
	case MEMBER_FILE:
		return tar_file_read(a, m, buf, len, off);
	case MEMBER_RANGE:
		return read_range(m, buf, len, off);
	case MEMBER_MANIFEST:
		return tar_sums_read(a, buf, len, off, cancel);
	case MEMBER_DIR:
		break;
	}
	return -EIO;
}

/* The last member that begins at @off or before. */
static const struct member *find(const struct tar *a, uint64_t off)
{
	size_t lo = 0, hi = a->members.len;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (a->members.data[mid].off <= off)
			lo = mid;
		else
			hi = mid;
	}
	return &a->members.data[lo];
}

/* Reads from @off at most one part of @m, or its padding: *done bytes. */
static int read_part(struct tar *a, const struct member *m, char *buf, size_t len,
		     uint64_t off, size_t *done, const atomic_bool *cancel)
{
	uint64_t in = off - m->off, next;

	if (in < m->head) {
		*done = at_most(m->head - in, len);
		return read_header(m, buf, *done, in);
	}
	in -= m->head;
	if (in < m->size) {
		*done = at_most(m->size - in, len);
		return read_content(a, m, buf, *done, in, cancel);
	}
	next = m + 1 < a->members.data + a->members.len ? m[1].off : a->size;
	*done = at_most(next - off, len);
	memset(buf, 0, *done);
	return 0;
}

/* As tar_read(), except for the MANIFEST; sums nothing up. */
static int tar_read_raw(struct tar *a, char *buf, size_t len, uint64_t off,
			const atomic_bool *cancel)
{
	int rc = 0;

	for (size_t done; len && !rc; buf += done, len -= done, off += done)
		rc = read_part(a, find(a, off), buf, len, off, &done, cancel);
	return rc;
}

int tar_read(struct tar *a, char *buf, size_t len, off_t off, const atomic_bool *cancel)
{
	int rc = tar_read_raw(a, buf, len, (uint64_t)off, cancel);

	if (!rc)
		tar_sums_feed(a, buf, len, (uint64_t)off);
	return rc;
}

bool tar_fresh(struct tar *a)
{
	vec_for(&a->members, m)
		if (m->kind == MEMBER_FILE && !tar_file_fresh(a, m))
			return false;
	return true;
}
