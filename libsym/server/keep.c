/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/keep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cred.h"
#include "base/vec.h"
#include "libsym/wire/kept.h"
#include "libsym/wire/lines_wire.h"
#include "libsym/wire/request.h"
#include "libsym/wire/wire.h"

enum { NOBODY = 65534 };

/* Has no more rights than everybody has. */
static const struct cred everybody = { .uid = NOBODY, .gid = NOBODY };

struct making {
	struct sym_server *server;
	const struct sym_keep *k;
	const atomic_bool *cancel;
	struct sym_job job;           /* with the rights that read all there is */
	struct sym_kept before;       /* zeros: nothing was kept */
	unsigned rank_before;         /* of its symbols; 0: they are of no use */
	VEC(struct sym_range) ranges; /* of @before, and those that are needed now */
	struct strbuf table, lines;   /* answers; empty: no better than @before */
};

static void making_fini(struct making *m)
{
	sym_kept_fini(&m->before);
	vec_fini(&m->ranges);
	strbuf_fini(&m->table);
	strbuf_fini(&m->lines);
}

/* What was kept before.  Damage is mended by writing the file anew. */
static int look_back(struct making *m)
{
	const struct sym_job *job = m->k->job;
	int rc = job->kept ? sym_kept_read(job->kept, job, &m->before, NULL) : -ENOENT;

	if (!rc)
		rc = sym_kept_rank(&m->before, job, &m->rank_before);
	if (rc != -ENOMEM && !m->rank_before)
		sym_kept_fini(&m->before);
	return rc == -ENOMEM ? rc : 0;
}

static int add_ranges(struct making *m, const struct sym_range *r, size_t nr)
{
	if (vec_reserve(&m->ranges, nr))
		return -ENOMEM;
	if (nr)
		memcpy(m->ranges.data + m->ranges.len, r, nr * sizeof(*r));
	m->ranges.len += nr;
	return 0;
}

static int join_ranges(struct making *m)
{
	int rc = add_ranges(m, m->before.ranges, m->before.nr_ranges);

	if (!rc)
		rc = add_ranges(m, m->k->ranges, m->k->nr_ranges);
	if (!rc)
		m->ranges.len = sym_ranges_join(m->ranges.data, m->ranges.len);
	return rc;
}

/* The symbols with m->job's rights, and their rank. */
static int ask_table(struct making *m, unsigned *rank, struct err *err)
{
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	int rc;

	*rank = 0;
	strbuf_reset(&m->table);
	sym_request_load(&m->job, &request);
	rc = sym_server_answer(m->server, &request, m->cancel, &m->table, err);
	if (!rc)
		rc = sym_wire_decode(m->table.data, m->table.len, &t, err);
	if (!rc)
		*rank = sym_table_rank(t);
	return rc;
}

/* Rights as everybody has them, if they do: then everybody may read what is kept.  The
 * running kernel tells its names to few. */
static int choose_rights(struct making *m, unsigned *rank, struct err *err)
{
	int rc;

	if (m->job.kind != SYM_KALLSYMS) {
		m->job.cred = &everybody;
		rc = ask_table(m, rank, err);
		if (rc == -EINTR || rc == -ENOMEM || *rank >= sym_table_rank(m->k->table))
			return rc;
	}
	m->job.cred = NULL;
	return ask_table(m, rank, err);
}

static int ask_lines(struct making *m, struct err *err)
{
	const struct sym_parts parts = { .ranges = m->ranges.data,
					 .nr = m->ranges.len,
					 .flags = SYM_LINES_INLINES };
	CLEANUP(sym_lines_putp) struct sym_lines *l = NULL;
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	int rc;

	sym_request_parts(SYM_REQUEST_LINES, &m->job, &parts, &request);
	rc = sym_server_answer(m->server, &request, m->cancel, &m->lines, err);
	if (!rc)
		rc = sym_lines_decode(m->lines.data, m->lines.len, SYM_LINES_INLINES, &l,
				      err);
	if (!rc && !l->nr_rows && m->before.lines_len)
		strbuf_reset(&m->lines);
	return rc;
}

/* Joins what the binary told with what was kept before. */
static int finish(struct making *m, struct strbuf *out, bool *is_public)
{
	struct sym_kept now = m->before;

	if (!m->lines.len && m->rank_before >= sym_table_rank(m->k->table))
		return 0;
	now.table = m->table.data;
	now.table_len = m->table.len;
	if (m->lines.len) {
		now.lines = m->lines.data;
		now.lines_len = m->lines.len;
		now.ranges = m->ranges.data;
		now.nr_ranges = m->ranges.len;
	}
	/* lines that were kept may have been read with more rights */
	*is_public = m->job.cred && (m->lines.len || m->before.is_public);
	return sym_kept_encode(&now, out);
}

/* The running kernel's names come without lines. */
static bool has_lines(const struct making *m)
{
	return m->job.kind != SYM_KALLSYMS;
}

/*
 * There was no DWARF, so no other function has lines.  A debug file that came since has
 * symbols as well: the table of a binary without its own would tell more than before.
 */
static bool had_no_dwarf(const struct making *m)
{
	CLEANUP(sym_lines_putp) struct sym_lines *l = NULL;

	return sym_table_rank(m->k->table) < SYM_BEST && m->before.lines_len &&
	       !sym_kept_lines(&m->before, SYM_LINES_INLINES, &l, NULL) &&
	       l->state == SYM_NO_SYMBOLS && !l->nr_rows;
}

static bool is_enough(const struct making *m)
{
	const struct sym_keep *k = m->k;

	return m->rank_before >= sym_table_rank(k->table) &&
	       (!has_lines(m) ||
		sym_ranges_hold(m->before.ranges, m->before.nr_ranges, k->ranges,
				k->nr_ranges) ||
		had_no_dwarf(m));
}

static int make(struct making *m, struct strbuf *out, bool *is_public, struct err *err)
{
	unsigned rank;
	int rc = choose_rights(m, &rank, err);

	if (rc)
		return rc;
	if (rank <
	    sym_table_rank(m->k->table)) /* the binary is gone, or told more before */
		return m->rank_before
			       ? 0
			       : err_set(err, -EIO, "%s",
					 "it was replaced or removed at this moment");
	if (has_lines(m)) {
		rc = join_ranges(m);
		if (!rc)
			rc = ask_lines(m, err);
	}
	return rc ? rc : finish(m, out, is_public);
}

int sym_keep_make(struct sym_server *s, const struct sym_keep *k,
		  const atomic_bool *cancel, struct strbuf *out, bool *is_public,
		  struct err *err)
{
	CLEANUP(making_fini)
	struct making m = { .server = s, .k = k, .cancel = cancel, .job = *k->job };
	char name[SYM_KEPT_NAME];
	int rc;

	if (!sym_kept_name(k->job, name))
		return err_set(
			err, -EINVAL,
			"neither a build-id nor a time of modification tells it from "
			"others");
	rc = look_back(&m);
	if (!rc && !is_enough(&m))
		rc = make(&m, out, is_public, err);
	return rc == -ENOMEM ? err_errno(err, rc, "kept symbols") : rc;
}
