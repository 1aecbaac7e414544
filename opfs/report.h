/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_H
#define OPFS_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "opfs/profile.h"
#include "opfs/view.h"

/* A virtual file: one row in report_list.h, one source file report_NAME.c. */
struct report {
	const char *name; /* file name in every profile directory */
	const char *doc;  /* one line for README and opfs(5) */
	unsigned needs;   /* PROFILE_PAIRS or PROFILE_SYMBOLS */
	int (*render)(const struct profile *p, const struct viewer *v, struct strbuf *out,
		      struct err *err);
};

extern const struct report *const reports[]; /* in directory order */
extern const size_t nr_reports;

/* NULL: no such file.  @name need not end in NUL at @len. */
const struct report *report_find(const char *name, size_t len);

#define REPORT(id) extern const struct report report_##id;
#include "opfs/report_list.h"
#undef REPORT

/*
 * The texts by symbol and by application with other than the default options.  As
 * render(): 0, -EINTR if the viewer has gone, -ENOMEM.
 */
int report_by_symbol(const struct profile *p, const struct view_options *o,
		     const struct viewer *v, struct strbuf *out, struct err *err);
int report_by_app(const struct profile *p, const struct view_options *o,
		  const struct viewer *v, struct strbuf *out, struct err *err);

/* ---- for renderers */

/* True if there is no sample at all; then says so, and what to do, in @out. */
bool report_nothing(const struct profile *p, struct strbuf *out);
/* "EVENT:COUNT", and ":0xMASK" if the unit mask is not 0. */
void report_event(const struct profile_class *c, struct strbuf *out);
/* What a render returns at its end: strbuf_error(), with a message. */
int report_done(const struct strbuf *out, struct err *err);
/* -EINTR and -ENOMEM with a message. */
int report_interrupted(struct err *err);
int report_no_memory(struct err *err);

#endif
