/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_SOURCE_ANNOTATE_H
#define OPFS_REPORT_SOURCE_ANNOTATE_H

#include <stdint.h>

#include "base/strbuf.h"
#include "libsym/table/source.h"
#include "opfs/report/report.h"
#include "opfs/report/source/sources.h"

/*
 * Annotated source, as opannotate writes it: before each line the samples of each class
 * and their percentage, behind it totals of functions and of inlined code in comments.
 */

/* "   353 32.1787", one after the other for each class. */
void annotate_counts(const struct sources *s, const uint64_t *samples,
		     struct strbuf *out);
/* The columns before a line; @samples NULL: as many blanks. */
void annotate_prefix(const struct sources *s, const uint64_t *samples,
		     struct strbuf *out);

/* Text in a comment, such as a name or what somebody typed; it cannot end the comment. */
void annotate_text(const char *text, struct strbuf *out);

/* A line of source without its end; control bytes are made visible. */
void annotate_source(const char *data, size_t len, struct strbuf *out);

struct annotate_part { /* of a file: lines [first, last]; last 0: to the end */
	uint32_t first, last;
};

/**
 * annotate_file - the lines of a file, or, without @text, its functions
 * @text: the source; NULL or without SYM_OK: its reason is told
 * Samples of lines behind the end of the text are listed by number.
 */
int annotate_file(const struct report_job *job, const struct sources *s,
		  const struct source_file *f, const struct sym_text *text,
		  const struct annotate_part *part, struct strbuf *out, struct err *err);

/* The comment about a file: its total, where it was read, whether it is too new. */
void annotate_total(const struct report_job *job, const struct sources *s,
		    const struct source_file *f, const struct sym_text *text,
		    struct strbuf *out);

/* What was counted, as lines of a comment. */
void annotate_classes(const struct report_job *job, struct strbuf *out);

/* The comment about the report: its path, and what was counted. */
void annotate_about(const struct report_job *job, const char *what, struct strbuf *out);

/**
 * annotate_open - reads a source file, with the rights of the user who asks
 * @out: a text, also if there is none: then it says why
 * The path is what search-dirs: and base-dirs: make of it, else as DWARF has it.
 * Returns 0, -EINTR, -ENOMEM. 
 */
int annotate_open(const struct report_job *job, const char *name, struct sym_text **out,
		  struct err *err);

/* True if source files are shown whatever the options are. */
bool annotate_always(const struct options *o);

/* base-dirs: needs search-dirs:.  0 or -EINVAL.  */
int annotate_check(const struct report_job *job, struct err *err);

#endif
