/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_H
#define OPFS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "opfs/options.h"
#include "opfs/profile.h"
#include "opfs/text.h"
#include "opfs/view.h"

/* What a file is made of.  Borrowed for the call. */
struct report_job {
	const struct profile *p; /* with diff: a comparison, see profile_compare() */
	const struct options *o;
	const struct viewer *v;
	struct sym_cache *syms; /* lines, code and sources; NULL: there are none */
	const char *path;       /* the specification as a path, "current/event:X" */
	const char *base_path;  /* the same of the older side, with diff:; else NULL */
	const char *entry;      /* of a report that is a directory: which file in it */
};

/* Names of files in a report that is a directory: paths with "/" between components. */
struct report_entries {
	char **names; /* heap, each too; sorted, none twice */
	size_t nr;
};
void report_entries_free(struct report_entries *e);

/* A virtual file: one row in report_list.h, one source file report_NAME.c. */
struct report {
	const char *name; /* file name in every profile directory */
	const char *doc;  /* one line for README and opfs(5) */
	unsigned needs;   /* PROFILE_... */
	/* What it needs besides, with these switches: PROFILE_...; NULL: nothing. */
	unsigned (*needs_more)(const struct options *o);
	bool more;        /* dear: listed in `more` only */
	bool session;     /* only of whole sessions: not below any selecting tag */
	bool owner;       /* only for the user who mounted */
	bool symbol;      /* only in directories of symbol:, where it is listed; with @more:
			   * listed there, and in `more` elsewhere */
	uint64_t tags;    /* presenting tags that it takes: OPTION_TAG(); others are an error */
	uint64_t words;   /* switches that it takes: OPTION_WITH() */
	/* True if it shows files besides sessions and binaries, which come and go; NULL:
	 * never. */
	bool (*outside)(const struct options *o);
	/*
	 * Why it cannot be, though it takes each tag: -EINVAL; it is then not listed.
	 * job->p has PROFILE_PAIRS at least; -EAGAIN asks to be called again with all
	 * that is needed.  NULL: always can.
	 */
	int (*check)(const struct report_job *job, struct err *err);
	/* The text; 0, -EINVAL (with the reason: it is not listed then), -EINTR, -ENOMEM. */
	int (*render)(const struct report_job *job, struct strbuf *out, struct err *err);
	/* Instead of render(): content that is made piece by piece. */
	int (*open)(const struct report_job *job, struct text **out, struct err *err);
	/* A directory: the files in it, each then rendered with job->entry. */
	int (*entries)(const struct report_job *job, struct report_entries *out,
		       struct err *err);
};

/* What most files with rows by symbol take: which rows there are, how they are called. */
#define REPORT_TAGS_ROWS                                                                 \
	(OPTION_TAG(MERGE) | OPTION_TAG(SPLIT) | OPTION_TAG(THRESHOLD) |                 \
	 OPTION_TAG(INCLUDE_SYMBOLS) | OPTION_TAG(EXCLUDE_SYMBOLS) |                     \
	 OPTION_TAG(DEMANGLE) | OPTION_TAG(WITH) | OPTION_TAG(IMAGE_PATH) |              \
	 OPTION_TAG(ROOT))
#define REPORT_WORDS_ROWS                                                                \
	(OPTION_WITH(REVERSE_SORT) | OPTION_WITH(LONG_FILENAMES) |                       \
	 OPTION_WITH(EXCLUDE_DEPENDENT))
/* Those with columns as well. */
#define REPORT_WORDS_TABLE                                                               \
	(REPORT_WORDS_ROWS | OPTION_WITH(NO_HEADER) | OPTION_WITH(ACCUMULATED) |         \
	 OPTION_WITH(SHOW_ADDRESS) | OPTION_WITH(DEBUG_INFO))

extern const struct report *const reports[]; /* in directory order */
extern const size_t nr_reports;

/* NULL: no such file.  @name need not end in NUL at @len. */
const struct report *report_find(const char *name, size_t len);

/* All that is to be loaded for it: PROFILE_... */
unsigned report_needs(const struct report *r, const struct options *o);

#define REPORT(id) extern const struct report report_##id;
#include "opfs/report_list.h"
#undef REPORT

/* ---- for renderers */

/* True if there is no sample at all; then says so, and what to do, in @out. */
bool report_nothing(const struct profile *p, struct strbuf *out);
/**
 * report_view_options - how the path wants rows
 * @lines: what with:debug-info and sort:debug need is loaded; NULL if neither was given;
 *	must outlive the view
 * Returns 0, -EINTR, -ENOMEM.
 */
int report_view_options(const struct report_job *job, struct view_options *out,
			struct lines **lines, struct err *err);
/* "EVENT:COUNT", and ":0xMASK" if the unit mask is not 0. */
void report_event(const struct profile_class *c, struct strbuf *out);
/* With time: or last:, which sessions were summed, and from when to when they really were;
 * else nothing. */
void report_span(const struct report_job *job, struct strbuf *out);
/* A line if split: asks for columns of what was not kept apart; else nothing. */
void report_unsplit(const struct report_job *job, struct strbuf *out);
/* What stands above rows: header_lines(), report_unsplit(), report_span(); in a comparison, its sides. */
void report_header(const struct report_job *job, struct strbuf *out);
/* Images whose functions cannot be compared, and why: for reports that show functions. */
void report_wholes(const struct profile *p, struct strbuf *out);
/* What a render returns at its end: strbuf_error(), with a message. */
int report_done(const struct strbuf *out, struct err *err);
/* -EINTR and -ENOMEM with a message. */
int report_interrupted(struct err *err);
int report_no_memory(struct err *err);

#endif
