/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_SOURCE_SOURCES_H
#define OPFS_REPORT_SOURCE_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "opfs/report/report.h"

/*
 * The samples of a profile by source file and line.  Immutable; lives by reference
 * count, but not longer than the profile, from which numbers and names of symbols are
 * borrowed.
 */
struct source_line {
	uint32_t line;           /* 0: samples that belong to no line of the file */
	const uint64_t *samples; /* one a class */
};

/* A line that other code is inlined into: the samples of that code again. */
struct source_call {
	uint32_t line;
	const char *name;        /* of the inlined function, "" if it has none */
	const uint64_t *samples; /* are those of other lines: in no total */
};

struct source_symbol { /* a function whose code begins in the file */
	uint32_t file; /* private: where the file was when it was compiled */
	uint32_t line;
	uint32_t image;
	const struct sym *sym;
	const char *name;
	const uint64_t *samples; /* of the whole function, whatever lines they are in */
};

struct source_file {
	const char *name;  /* as DWARF has it */
	const char *entry; /* a path below annotate/: relative, no "..", none twice */
	uint64_t *samples; /* of its lines */
	struct source_line *lines;     /* by line */
	struct source_call *calls;     /* by line, then descending samples */
	struct source_symbol *symbols; /* by line, then descending samples */
	size_t nr_lines, nr_calls, nr_symbols;
	uint32_t binary;      /* the oldest image with code of the file */
	int64_t binary_mtime; /* seconds; 0: unknown */
};

struct source_rest { /* samples that no source file has */
	uint32_t image;
	const char *reason;
	uint64_t *samples;
};

struct sources {
	int refs; /* atomic */
	size_t nr_classes;
	const uint64_t *totals;    /* what percentages are of */
	struct source_file *files; /* by entry */
	struct source_rest *rests; /* by descending samples */
	size_t nr_files, nr_rests;
	const char *rest_entry; /* the entry that tells of them; NULL: there are none */
	struct arena arena;
	uint64_t *counts;        /* what lines and calls point to; free() */
	struct sym_names *names; /* demangled names of inlined functions */
};

/**
 * sources_get - the sums of a report's profile, made once for all its files
 * @job: its profile is loaded with PROFILE_HITS
 * @out: a reference, sources_put() before the profile goes
 * Returns 0, -EINTR, -ENOMEM.
 */
int sources_get(const struct report_job *job, struct sources **out, struct err *err);
void sources_put(struct sources *s); /* NULL is fine */
static inline void sources_putp(struct sources **s)
{
	sources_put(*s);
}

/* Looked up by its name in annotate/; NULL: there is none. */
const struct source_file *sources_find(const struct sources *s, const char *entry);

/* True if the options ask for this file: threshold:, include-file:, exclude-file:. */
bool sources_wants(const struct sources *s, const struct options *o,
		   const struct source_file *f);

#endif
