/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tar.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "opfs/tar_impl.h"

/* Content is filled up to whole blocks; two empty ones end an archive. */
enum { BLOCK = 512, END_BYTES = 2 * BLOCK };

static int no_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory while making an archive");
}

int tar_new(struct tar **out, struct err *err)
{
	struct tar *a = calloc(1, sizeof(*a));

	if (!a)
		return no_memory(err);
	pthread_mutex_init(&a->sums.lock, NULL);
	*out = a;
	return 0;
}

void tar_free(struct tar *a)
{
	if (!a)
		return;
	tar_sums_fini(a);
	pthread_mutex_destroy(&a->sums.lock);
	map_fini(&a->names);
	vec_fini(&a->members);
	arena_fini(&a->arena);
	free(a);
}

/* ---- members */

bool tar_has(const struct tar *a, const char *name)
{
	uint64_t found;

	return map_get(&a->names, name, strlen(name), &found);
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

int tar_add_member(struct tar *a, const struct tar_info *info, const struct member *m,
		   struct err *err)
{
	return add(a, info, *m, err);
}

/* ---- layout */

static int compare_names(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	return strcmp(a->name, b->name);
}

uint64_t tar_content(const struct member *m)
{
	return m->off + m->head;
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

/* Bytes first, then what the file has, then zeros. */
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
		return tar_file_read(m, buf, len, off);
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

/* As much as one part of @m, or what fills it up, has from @off: *done bytes. */
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

int tar_read_raw(struct tar *a, char *buf, size_t len, uint64_t off,
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
		if (m->kind == MEMBER_FILE && !tar_file_fresh(m))
			return false;
	return true;
}
