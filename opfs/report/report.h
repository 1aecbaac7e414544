/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_REPORT_H
#define OPFS_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "opfs/profile/compare.h"
#include "opfs/profile/profile.h"
#include "opfs/report/options.h"
#include "opfs/report/view.h"

/* What a file is made from.  Borrowed for the call. */
struct report_job {
	const struct profile *p; /* with diff: a comparison, see profile_compare() */
	const struct options *o;
	const struct viewer *v;
	const struct viewer *reader; /* whose rights processes are told by; NULL: all */
	struct sym_cache *syms;      /* lines, code and sources; NULL: there are none */
	const struct report_set *reports; /* the files beside this one */
	const char *path;      /* the specification as a path, "current/event:X" */
	const char *base_path; /* the same of the older side, with diff:; else NULL */
	const char *entry;     /* of a report that is a directory: which of its files */
};

/* A virtual file: one row in opfs/report_list.h, one source file report_NAME.c. */
struct report {
	const char *name; /* file name in every profile directory */
	const char *doc;  /* one line for README and opfs(5) */
	unsigned needs;   /* PROFILE_... */
	/*
	 * What the file needs in addition if these switches are given: PROFILE_...;
	 * NULL: nothing.
	 */
	unsigned (*needs_more)(const struct options *o);
	bool more;         /* slow: listed in `more` only */
	bool names_path;   /* says of which path it is */
	bool whole;        /* listed of whole sessions only; as slow as one is large */
	bool basic;        /* also listed of each function that is listed */
	bool tells_losses; /* says itself what is missing in it and in other files */
	bool session;      /* for whole sessions only: not below any selecting tag */
	bool calls;        /* only where calls were recorded */
	bool inlines; /* with:inlines: it is of the functions that are inlined, too */
	bool owner;   /* for the user who mounted only */
	bool symbol;  /* only in directories of symbol:, where it is listed; with @more:
			   * listed there, and in `more` elsewhere */
	uint64_t
		/* presenting tags that it takes: OPTION_TAG(); others are an error */
		tags;
	uint64_t words; /* switches that it takes: OPTION_WITH() */
	/*
	 * True if it also depends on files other than sessions and binaries; NULL:
	 * never.
	 */
	bool (*outside)(const struct options *o);
	/*
	 * Why the file cannot be made although it takes each tag: -EINVAL; it is then
	 * not listed. job->p has PROFILE_PAIRS at least; -EAGAIN asks to be called again
	 * with everything that the file needs.  Nothing is rendered that is refused
	 * here.  NULL: it always can be made.
	 */
	int (*check)(const struct report_job *job, struct err *err);
	/* The text; 0, -EINVAL (with the reason: it is not listed then), -EINTR,
	 * -ENOMEM. */
	int (*render)(const struct report_job *job, struct strbuf *out, struct err *err);
	/* Instead of render(): content that is made piece by piece. */
	int (*open)(const struct report_job *job, struct text **out, struct err *err);
	/* A directory: the files in it, sorted, as paths with "/" between components;
	 * each is then rendered with job->entry.  On failure @out may hold some. */
	int (*entries)(const struct report_job *job, struct names *out, struct err *err);
};

/*
 * What most files with rows by symbol take: which rows there are, and how they are
 * named.
 */
#define REPORT_TAGS_ROWS                                                                 \
	(OPTION_TAG(MERGE) | OPTION_TAG(SPLIT) | OPTION_TAG(THRESHOLD) |                 \
	 OPTION_TAG(INCLUDE_SYMBOLS) | OPTION_TAG(EXCLUDE_SYMBOLS) |                     \
	 OPTION_TAG(DEMANGLE) | OPTION_TAG(WITH) | OPTION_TAG(IMAGE_PATH) |              \
	 OPTION_TAG(ROOT))
#define REPORT_WORDS_ROWS                                                                \
	(OPTION_WITH(REVERSE_SORT) | OPTION_WITH(LONG_FILENAMES) |                       \
	 OPTION_WITH(EXCLUDE_DEPENDENT))
/* The same, and what changes columns. */
#define REPORT_WORDS_TABLE                                                               \
	(REPORT_WORDS_ROWS | OPTION_WITH(NO_HEADER) | OPTION_WITH(ACCUMULATED) |         \
	 OPTION_WITH(SHOW_ADDRESS) | OPTION_WITH(DEBUG_INFO))

/* The files of every profile directory, in directory order; report_find() gives NULL if
 * no file is called so. */
struct report_set {
	const struct report *const *all;
	size_t nr;
};
const struct report *report_find(const struct report_set *set, const char *name);

/* Everything that is to be loaded for the file: PROFILE_... */
unsigned report_needs(const struct report *r, const struct options *o);

/* ---- for renderers */

/* True if there are no samples at all; @out then says so, and what to do. */
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
/*
 * With time: or last:, which sessions were summed and the time they span; else nothing.
 */
void report_span(const struct report_job *job, struct strbuf *out);
/*
 * A line if split: asks for columns that the samples were not kept apart for; else
 * nothing.
 */
void report_unsplit(const struct report_job *job, struct strbuf *out);
/*
 * The text above rows: header_lines(), report_unsplit(), report_span(); in a comparison
 * both sides.
 */
void report_header(const struct report_job *job, struct strbuf *out);
/* Images whose functions cannot be compared, and why: for reports that show functions. */
void report_wholes(const struct profile *p, struct strbuf *out);
/* That of the file that was read, else of the one that was sampled. */
struct build_id report_build_id(const struct profile *p, uint32_t image);
/**
 * report_step - before row @i, where nobody looks at what is before it in @out again
 * Every 64 rows the text so far goes where it is wanted.  0; -EINTR if nobody waits any
 * more; -ENOMEM, also if the text cannot go anywhere.
 */
int report_step(const struct report_job *job, size_t i, struct strbuf *out,
		struct err *err);
/* What a renderer returns at its end: strbuf_error(), with a message. */
int report_done(const struct strbuf *out, struct err *err);
/* -EINTR and -ENOMEM with a message. */
int report_interrupted(struct err *err);
int report_no_memory(struct err *err);
/* What a renderer returns for what its work returned: 0, or -ENOMEM or -EINTR with a
 * message.  What else can fail has told why. */
int report_result(int rc, struct err *err);

#endif
