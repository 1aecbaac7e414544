/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/cred.h"
#include "base/file.h"
#include "base/fnv.h"
#include "libsym/wire/lines_wire.h"
#include "libsym/wire/wire.h"

/* Symbols, ranges and lines may each be as long as an answer. */
#define MAX_BYTES (3ull * SYM_WIRE_MAX)

enum { WORD = sizeof(uint64_t) };

void sym_kept_fini(struct sym_kept *k)
{
	strbuf_fini(&k->bytes);
	*k = (struct sym_kept){ 0 };
}

bool sym_kept_name(const struct sym_job *job, char name[SYM_KEPT_NAME])
{
	uint64_t hash = FNV_START;

	if (job->build_id.len) {
		build_id_format(&job->build_id, name);
		return true;
	}
	if (!job->path || job->path[0] != '/' || !job->mtime)
		return false;
	for (const char *at = job->path; *at; at++)
		hash = fnv_add(hash, (unsigned char)*at);
	if (job->inode)
		hash = fnv_add(hash, job->inode);
	snprintf(name, SYM_KEPT_NAME, "%016" PRIx64 ".%" PRId64, hash, job->mtime);
	return true;
}

void sym_kept_path(const struct sym_job *job, struct strbuf *out)
{
	char name[SYM_KEPT_NAME];

	if (job->kept && sym_kept_name(job, name))
		strbuf_printf(out, "%s/%s", job->kept, name);
}

/* ---- writing */

static void pad(struct strbuf *out)
{
	static const char zeros[WORD];

	if (out->len % WORD)
		strbuf_add(out, zeros, WORD - out->len % WORD);
}

static uint64_t sum_of(const struct sym_kept_header *h, const char *words, size_t len)
{
	uint64_t sum = fnv_add(FNV_START, h->table_len), word;

	sum = fnv_add(fnv_add(sum, h->nr_ranges), h->lines_len);

	for (size_t i = 0; i + WORD <= len; i += WORD) {
		memcpy(&word, words + i, WORD);
		sum = fnv_add(sum, word);
	}
	return sum;
}

int sym_kept_encode(const struct sym_kept *k, struct strbuf *out)
{
	struct sym_kept_header h = { .magic = SYM_KEPT_MAGIC,
				     .version = SYM_KEPT_VERSION,
				     .table_len = k->table_len,
				     .nr_ranges = k->nr_ranges,
				     .lines_len = k->lines_len };
	size_t start = out->len;

	strbuf_add(out, &h, sizeof(h));
	strbuf_add(out, k->table, k->table_len);
	pad(out);
	strbuf_add(out, k->ranges, k->nr_ranges * sizeof(*k->ranges));
	strbuf_add(out, k->lines, k->lines_len);
	pad(out);
	if (strbuf_error(out))
		return -ENOMEM;
	h.sum = sum_of(&h, out->data + start + sizeof(h), out->len - start - sizeof(h));
	memcpy(out->data + start, &h, sizeof(h));
	return 0;
}

/* ---- reading */

static int damaged(struct err *err, const char *what)
{
	return err_set(err, -EBADMSG, "kept symbols: %s", what);
}

static int check_header(const struct sym_kept_header *h, struct err *err)
{
	if (memcmp(h->magic, SYM_KEPT_MAGIC, sizeof(h->magic)) != 0)
		return damaged(err, "is no file of kept symbols");
	if (h->version != SYM_KEPT_VERSION)
		return damaged(err, "written by another version of opfs");
	if (h->table_len > SYM_WIRE_MAX || h->lines_len > SYM_WIRE_MAX ||
	    h->nr_ranges > SYM_WIRE_MAX / sizeof(struct sym_range))
		return damaged(err, "lengths are too large");
	return 0;
}

static size_t padded(uint64_t len)
{
	return (size_t)(len + WORD - 1) / WORD * WORD;
}

static bool ranges_are_right(const struct sym_range *r, size_t nr)
{
	uint64_t end = 0;

	for (size_t i = 0; i < nr; end = r[i++].end)
		if (r[i].off < end || r[i].end <= r[i].off)
			return false;
	return true;
}

int sym_kept_decode(struct strbuf *bytes, struct sym_kept *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf owned = *bytes;
	struct sym_kept_header h;
	const char *at = owned.data;
	size_t ranges;
	int rc;

	*bytes = (struct strbuf){ 0 };
	if (owned.len < sizeof(h))
		return damaged(err, "is too short");
	memcpy(&h, at, sizeof(h));
	rc = check_header(&h, err);
	if (rc)
		return rc;
	at += sizeof(h);
	ranges = h.nr_ranges * sizeof(struct sym_range);
	if (owned.len != sizeof(h) + padded(h.table_len) + ranges + padded(h.lines_len))
		return damaged(err, "lengths disagree");
	if (h.sum != sum_of(&h, at, owned.len - sizeof(h)))
		return damaged(err, "its bytes are not those that were written");
	*out = (struct sym_kept){
		.table = at,
		.table_len = h.table_len,
		.ranges = (const struct sym_range *)(at + padded(h.table_len)),
		.nr_ranges = h.nr_ranges,
		.lines = at + padded(h.table_len) + ranges,
		.lines_len = h.lines_len,
	};
	if (!ranges_are_right(out->ranges, out->nr_ranges))
		return damaged(err, "ranges out of order");
	out->bytes = owned;
	owned = (struct strbuf){ 0 };
	return 0;
}

static int read_file(int dir_fd, const char *name, const struct sym_job *job,
		     struct sym_kept *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	struct stat st;
	int rc;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return err_errno(err, -errno, "%s", name);
	/* The session's directory decides who comes here, as with its other files. */
	if (job->cred && !cred_allows(job->cred, &st, S_IROTH))
		return err_errno(err, -EACCES, "%s", name);
	rc = file_slurp(dir_fd, name, MAX_BYTES, &bytes, err);
	if (!rc)
		rc = sym_kept_decode(&bytes, out, err);
	if (!rc)
		out->is_public = st.st_mode & S_IROTH;
	return rc;
}

int sym_kept_read(const char *dir, const struct sym_job *job, struct sym_kept *out,
		  struct err *err)
{
	CLEANUP(close_fd)
	int dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	char name[SYM_KEPT_NAME];

	if (dir_fd < 0)
		return err_errno(err, -errno, "%s", dir);
	if (!sym_kept_name(job, name))
		return err_errno(err, -ENOENT, "%s", dir);
	return read_file(dir_fd, name, job, out, err);
}

/* ---- what is in it */

static bool is_of(const struct sym_table *t, const struct sym_job *job)
{
	if (job->build_id.len)
		return build_id_equal(&t->build_id, &job->build_id);
	return job->path && !strcmp(t->path, job->path) && t->mtime == job->mtime &&
	       (!job->inode || t->ino == job->inode);
}

int sym_kept_table(const struct sym_kept *k, const struct sym_job *job,
		   struct sym_table **out, struct err *err)
{
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	int rc = sym_wire_decode(k->table, k->table_len, &t, err);

	if (rc)
		return rc;
	if (!is_of(t, job))
		return damaged(err, "are of another binary");
	*out = TAKE(t);
	return 0;
}

/* A build-id is in the header; a path is not. */
int sym_kept_rank(const struct sym_kept *k, const struct sym_job *job, unsigned *rank)
{
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	const struct sym_wire_header *h = k->table;
	int rc;

	*rank = 0;
	if (!job->build_id.len) {
		rc = sym_kept_table(k, job, &t, NULL);
		*rank = rc ? 0 : sym_table_rank(t);
		return rc == -ENOMEM ? rc : 0;
	}
	if (k->table_len >= sizeof(*h) && h->magic == SYM_WIRE_MAGIC &&
	    h->version == SYM_WIRE_VERSION && h->state < SYM_NR_STATES &&
	    h->source < SYM_NR_SOURCES && h->id_len == job->build_id.len &&
	    h->id_len <= SYM_WIRE_ID && !memcmp(h->id, job->build_id.bytes, h->id_len))
		*rank = sym_table_rank(
			&(struct sym_table){ .state = h->state,
					     .source = h->source,
					     .nr_entries = h->nr_entries });
	return 0;
}

int sym_kept_lines(const struct sym_kept *k, unsigned flags, struct sym_lines **out,
		   struct err *err)
{
	return sym_lines_decode(k->lines, k->lines_len, flags, out, err);
}
