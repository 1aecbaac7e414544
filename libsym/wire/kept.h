/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_KEPT_H
#define LIBSYM_WIRE_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/build_id.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/table/job.h"
#include "libsym/table/lines.h"
#include "libsym/table/symtab.h"

/*
 * Names that outlive their binary: a file for each image, in a directory that the
 * sessions of a session directory share.  Its name is the build-id in hexadecimal; an
 * image without one is called by a hash of its path and its time of modification.  It
 * holds, each padded to 8 bytes:
 *
 *	struct sym_kept_header
 *	the symbols, as wire.h has them
 *	struct sym_range[nr_ranges]: the code whose lines are here, by offset, disjoint
 *	the lines of that code with inlined functions, as lines_wire.h has them
 *
 * Whoever owns the directory can write anything into it, so all of it is checked like an
 * answer of a helper.
 */
#define SYM_KEPT_MAGIC "opfs sym"
#define SYM_KEPT_VERSION 1u

struct sym_kept_header {
	char magic[8];
	uint32_t version, zero;
	uint64_t sum; /* fnv_add() of the lengths, and of the 8-byte words behind them */
	uint64_t table_len, nr_ranges, lines_len; /* bytes, ranges, bytes; unpadded */
};
_Static_assert(sizeof(struct sym_kept_header) == 48, "kept header");

/* What a file holds. */
struct sym_kept {
	struct strbuf bytes; /* private: what the others point into; or empty */
	const void *table, *lines;
	size_t table_len, lines_len;
	const struct sym_range *ranges;
	size_t nr_ranges;
	bool is_public; /* everybody may read the file */
};
void sym_kept_fini(struct sym_kept *k); /* accepts a zeroed one */

#define SYM_KEPT_NAME BUILD_ID_TEXT

/* What the file of an image is called.  False: nothing tells it from others. */
bool sym_kept_name(const struct sym_job *job, char name[SYM_KEPT_NAME]);

/* Appends the path of that file; nothing, if there can be none. */
void sym_kept_path(const struct sym_job *job, struct strbuf *out);

/* Appends @k as a file; its bytes are not looked at.  0 or -ENOMEM. */
int sym_kept_encode(const struct sym_kept *k, struct strbuf *out);

/* Takes over @bytes, which are a whole file.  0, -EBADMSG. */
int sym_kept_decode(struct strbuf *bytes, struct sym_kept *out, struct err *err);

/**
 * sym_kept_read - what was kept of an image
 * @dir: its directory, in which no link is followed
 * Returns 0; -ENOENT if there is nothing; -EACCES if job->cred may not read the file;
 * -EBADMSG if it is damaged; -ENOMEM; another -errno.
 */
int sym_kept_read(const char *dir, const struct sym_job *job, struct sym_kept *out,
		  struct err *err);

/* sym_table_rank() of the symbols, which are only looked at as far as that takes; 0 also
 * if they are of another image than @job's, or are none.  0 or -ENOMEM. */
int sym_kept_rank(const struct sym_kept *k, const struct sym_job *job, unsigned *rank);
/* The symbols, one reference; -EBADMSG also if they are of another image than @job's. */
int sym_kept_table(const struct sym_kept *k, const struct sym_job *job,
		   struct sym_table **out, struct err *err);
/**
 * sym_kept_lines - the lines, one reference
 * @flags: SYM_LINES_INLINES; without, lines are those of the innermost function, too, and
 *	do not tell which one that is
 */
int sym_kept_lines(const struct sym_kept *k, unsigned flags, struct sym_lines **out,
		   struct err *err);

#endif
