/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_VIEW_H
#define OPFS_REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "opfs/profile/lines.h"
#include "opfs/profile/profile.h"

/*
 * Which rows of a profile a text shows, in which order, and what percentages are of.  A
 * view borrows from its profile, and must be freed before it.
 */
enum view_key { /* in the order in which keys that nobody named follow */
		VIEW_BY_SAMPLES,
		VIEW_BY_IMAGE,
		VIEW_BY_APP,
		VIEW_BY_SYMBOL,
		VIEW_BY_DEBUG,
		VIEW_BY_VMA,
		VIEW_BY_DIFF, /* of two profiles only */
		VIEW_NR_KEYS
};

struct view_options {   /* zeros are the defaults */
	size_t nr_sort; /* keys that were named, the most important first */
	enum view_key sort[VIEW_NR_KEYS];
	bool reverse;        /* reverse every key */
	double threshold;    /* percent: leaves out rows below it */
	bool long_filenames; /* paths instead of basenames, also for sorting */
	bool show_address;   /* column vma */
	bool accumulated;    /* columns cum. samples and cum. % */
	bool no_header;
	bool global_percent;       /* dependent images: percent of the whole */
	bool only_called;          /* rows without a sample too, at the ends of arcs */
	bool children;             /* columns total and %; rows with a total, by that */
	bool exclude_dependent;    /* only samples of an application's own image */
	const struct lines *lines; /* LINES_OF_SYMBOLS of the rows, for sort:debug and the
				    * next; outlives the view; NULL: none is known */
	bool show_lines;           /* column linenr info */
};

/* Rows by symbol. */
struct view {
	const struct profile *p;
	struct view_options options;
	const struct profile_row **rows;
	size_t nr_rows;
	uint64_t *totals;     /* one a class: what percentages are of */
	uint64_t *was_totals; /* in a comparison: of the older side */
	bool show_image;      /* some row's image is not its application */
	bool show_app;        /* rows are of several applications, and some class has
			       * more than one */
	bool wide_vma;        /* some row's address needs more than 32 bits */
};

/**
 * view_init - chooses and sorts rows
 * @p: loaded with PROFILE_SYMBOLS
 * @o: copied
 * Leaves out rows that stand aside, rows without a sample unless @only_called is set, and
 * rows below the threshold in every class, which still count in the totals.
 * Returns 0 or -ENOMEM.
 */
int view_init(struct view *v, const struct profile *p, const struct view_options *o);
void view_fini(struct view *v);

/* What percentages of row->children are of: all samples before symbol: and the
 * like chose rows. */
uint64_t view_whole(const struct view *v, size_t class);

/* The samples of a row; in a comparison also of the older side; 0 if it was not there. */
static inline uint64_t view_now(const struct profile_row *row, size_t class)
{
	return row->gone ? 0 : row->samples[class];
}
static inline uint64_t view_was(const struct profile_row *row, size_t class)
{
	return row->was ? row->was[class] : 0;
}
/* The same in percent of all samples of the class. */
double view_share(const struct view *v, const struct profile_row *row, size_t class);
double view_was_share(const struct view *v, const struct profile_row *row, size_t class);
/* In a comparison: profile_growth() of a row. */
double view_growth(const struct view *v, const struct profile_row *row, size_t class);
/* In a comparison: do the shares of a row differ by more than chance? */
bool view_sure(const struct view *v, const struct profile_row *row, size_t class);

/* The part of a file's path that is shown and sorted by. */
const char *view_file_name(const struct view_options *o, const char *file);
/*
 * The shown name of @image: its path, or only the last part; of a module that image-path:
 * has, that of the file there, as opreport does.
 */
const char *view_image_name(const struct profile *p, const struct view_options *o,
			    uint32_t image);

/* Appends column linenr info: "main.c:7"; @at NULL: "(no location information)". */
void view_place(const struct view_options *o, const struct line_place *at,
		struct strbuf *out);

static inline void view_add_samples(uint64_t *to, const uint64_t *from, size_t nr_classes)
{
	for (size_t c = 0; c < nr_classes; c++)
		to[c] += from[c];
}

/* Rows in the order of a report are anywhere in memory: those that follow are asked for
 * before they are needed, by so many rows. */
enum { VIEW_SOON = 8 };

static inline void view_fetch(const struct profile_row *row)
{
	__builtin_prefetch(row->samples);
	__builtin_prefetch(row->name);
	__builtin_prefetch(row->sym);
	for (uint32_t i = 0; i < row->nr_hits && i < 2 * VIEW_SOON; i += VIEW_SOON) {
		__builtin_prefetch(row->hits + i);
		__builtin_prefetch(row->hits + row->nr_hits + 2 * i);
		__builtin_prefetch(row->hits + row->nr_hits + 2 * i + VIEW_SOON);
	}
}

/* Row @i, for who goes from one to the next. */
static inline const struct profile_row *view_row(const struct view *v, size_t i)
{
	if (i + 2 * VIEW_SOON < v->nr_rows)
		__builtin_prefetch(v->rows[i + 2 * VIEW_SOON]);
	if (i + VIEW_SOON < v->nr_rows)
		view_fetch(v->rows[i + VIEW_SOON]);
	return v->rows[i];
}

/* Do samples of @image in @app not count? */
static inline bool view_excludes(const struct view_options *o, uint32_t app,
				 uint32_t image)
{
	return o->exclude_dependent && app != image;
}

/* As strcmp(). */
static inline int view_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

#endif
