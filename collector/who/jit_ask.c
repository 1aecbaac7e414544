/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/jit_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "collector/who/jit_files.h"
#include "collector/who/numbers.h"
#include "collector/who/procfs.h"
#include "libspec/jit/jit_file.h"
#include "libspec/jit/jitdump.h"
#include "libspec/jit/perf_map.h"

enum { MAX_PATH = 4096 };

/* ---- the process's /tmp */

/* "/home/u/jit-123.dump" */
static bool is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5) != 0)
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && !strcmp(name + 5 + digits, ".dump");
}

/* The jitdump that it has mapped, as the format wants it to. */
struct dump {
	uint64_t inode;
	struct strbuf *path; /* added to */
};

static bool take_dump(void *ctx, const struct coll_mmap *m)
{
	struct dump *d = ctx;

	if (!is_dump(m->filename) || strlen(m->filename) >= MAX_PATH)
		return false;
	d->inode = m->inode;
	strbuf_puts(d->path, m->filename);
	return true;
}

void coll_jit_answer_hold(char *question, size_t len, struct strbuf *out, int *file)
{
	struct coll_jit_held h = { 0 };
	struct dump dump = { .path = out };
	size_t at = out->len;
	uint32_t tgid;

	if (len != sizeof(tgid))
		return;
	memcpy(&tgid, question, sizeof(tgid));
	strbuf_add(out, &h, sizeof(h));
	h.start_ns = coll_proc_start(tgid);
	h.code = coll_jit_open_tmp(tgid);
	if (h.code >= 0)
		*file = TAKE(h.code);
	else if (h.code == -ENOENT)
		h.code = -ESRCH;
	if (!h.code) {
		h.uid = coll_proc_euid(tgid);
		h.nspid = coll_proc_own_number(tgid);
		coll_proc_find_mapping(tgid, take_dump, &dump);
		h.inode = dump.inode;
		h.path_len = (uint32_t)(out->len - at - sizeof(h));
	}
	/* all of it is of one process */
	if (!h.code &&
	    (!h.start_ns || !coll_same_start(coll_proc_start(tgid), h.start_ns)))
		h.code = -ESRCH;
	if (!strbuf_error(out))
		memcpy(out->data + at, &h, sizeof(h));
}

/* ---- its names */

struct fetching {
	struct coll_jit_fetch q;
	const struct coll_jit_region *regions;
	const char *dump; /* path; "": none */
	struct coll_jit_files files;
	struct coll_jit_fetched done;
	struct spec_jit_list codes;
};

static void take_names(struct fetching *f)
{
	struct coll_jit_files *files = &f->files;
	struct err why = { 0 };
	int rc;

	if (spec_jit_perf_map(files->map.data, files->map.len, &f->codes))
		coll_jit_files_tell(files, files->map_path,
				    "could not be read: out of memory");
	if (!files->dump.len)
		return;
	rc = spec_jit_jitdump(files->dump.data, files->dump.len, &f->codes, &why);
	if (rc)
		coll_jit_files_tell(files, f->dump, why.code ? why.msg : strerror(-rc));
}

/* ---- what of it is kept */

/* Cuts an entry to the region that it begins in; false: it begins in none. */
static bool is_inside(const struct fetching *f, struct spec_jit_code *c)
{
	size_t lo = 0, hi = f->q.nr_regions;

	while (lo < hi) { /* the first region that ends behind it */
		size_t mid = lo + (hi - lo) / 2;

		if (f->regions[mid].end <= c->start)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == f->q.nr_regions || f->regions[lo].start > c->start)
		return false;
	if (c->size > f->regions[lo].end - c->start)
		c->size = f->regions[lo].end - c->start;
	return true;
}

static void tell_number(struct fetching *f, const char *what, uint64_t nr)
{
	if (nr)
		strbuf_printf(&f->files.lines,
			      COLL_JIT_NOTE "process %" PRIu32 ": %" PRIu64 " %s\n",
			      f->q.tgid, nr, what);
}

static int settle(struct fetching *f)
{
	struct spec_jit_list *l = &f->codes;
	uint64_t overlapped = 0;
	size_t kept = 0;
	int rc;

	for (size_t i = 0; i < l->codes.len; i++)
		if (is_inside(f, &l->codes.data[i]))
			l->codes.data[kept++] = l->codes.data[i];
	tell_number(f, "entries left out, as no sample was taken near them",
		    l->codes.len - kept);
	l->codes.len = kept;
	rc = spec_jit_settle(l, &overlapped);
	tell_number(f, "entries overlap later ones, which win", overlapped);
	tell_number(f, "lines or records are no entries and were passed over", l->bad);
	tell_number(f, "entries behind the first million were left out", l->too_many);
	tell_number(f, "names were cut to 512 bytes", l->cut);
	return rc;
}

/* As many lines as a file of names may have, piece by piece. */
static int write_lines(int fd, const struct spec_jit_list *l, size_t *written)
{
	enum { PIECE = 1 << 20 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	size_t room = SPEC_JIT_LINES_MAX;
	int rc = 0;

	for (size_t next = 0; !rc && next < l->codes.len; *written = next) {
		strbuf_reset(&text);
		next = spec_jit_lines(l, next, room < PIECE ? room : PIECE, &text);
		rc = strbuf_error(&text);
		if (!rc && !text.len)
			break;
		if (!rc)
			rc = file_write_all(fd, text.data, text.len);
		room -= text.len;
	}
	return rc;
}

/* The lines as a file in memory; -1. */
static int make_lines(struct fetching *f)
{
	struct spec_jit_list *l = &f->codes;
	CLEANUP(close_fd) int fd = -1;
	size_t all = l->codes.len, written = 0;

	if (!all)
		return -1;
	/* overlaps make up to twice as many as there were, and readers take no more */
	if (l->codes.len > SPEC_JIT_MAX_CODES)
		l->codes.len = SPEC_JIT_MAX_CODES;
	fd = memfd_create("opfs-jit", MFD_CLOEXEC);
	if (fd < 0 || write_lines(fd, l, &written)) {
		tell_number(f, "entries lost: out of memory", all);
		return -1;
	}
	tell_number(f, "entries left out: a million are kept, and 128 MiB of lines",
		    all - written);
	f->done.nr_codes = (uint32_t)written;
	return take_fd(&fd);
}

bool coll_jit_take_question(const char *question, size_t len, struct coll_jit_fetch *q,
			    const struct coll_jit_region **regions, const char **dump)
{
	size_t bytes;

	if (len < sizeof(*q))
		return false;
	memcpy(q, question, sizeof(*q));
	bytes = q->nr_regions * sizeof(**regions);
	if (q->nr_regions > COLL_JIT_MAX_REGIONS || len - sizeof(*q) < bytes)
		return false;
	*regions = (const void *)(question + sizeof(*q));
	*dump = question + sizeof(*q) + bytes; /* a NUL is behind every question */
	return true;
}

void coll_jit_answer_fetch(char *question, size_t len, struct strbuf *out, int *file)
{
	struct fetching f = { 0 };

	if (!coll_jit_take_question(question, len, &f.q, &f.regions, &f.dump))
		return;
	coll_jit_files_read(&f.files, &f.q, f.dump);
	take_names(&f);
	if (f.codes.codes.len || f.codes.bad) {
		if (settle(&f))
			tell_number(&f, "entries lost: out of memory", f.codes.codes.len);
		else
			*file = make_lines(&f);
	}
	f.done.found = f.files.found;
	strbuf_add(out, &f.done, sizeof(f.done));
	strbuf_add(out, f.files.lines.data, f.files.lines.len);
	spec_jit_list_fini(&f.codes);
	coll_jit_files_fini(&f.files);
}
