/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SOURCES_IMPL_H
#define OPFS_SOURCES_IMPL_H

#include "base/map.h"
#include "base/vec.h"
#include "opfs/lines.h"
#include "opfs/sources.h"

/* Sums in the making; shared by opfs/sources*.c. */

struct sum { /* of a line, or of a call of an inlined function there */
	uint32_t file, line;
	uint32_t name; /* of a call: index into names */
	size_t at;     /* of its first number in counts */
};

struct sources_build {
	const struct report_job *job;
	const struct profile *p;
	struct sources *s;
	struct lines *lines;
	struct err *err;
	size_t nr; /* classes */

	VEC(struct source_file) files;
	struct map file_of;      /* by name */
	VEC(const char *) names; /* of inlined functions, as linkers know them */
	struct map name_of;
	VEC(struct sum) sums, calls;
	VEC(uint64_t) counts;
	struct map_u64 sum_of; /* by file and line */
	struct map call_of;    /* by file, line and name */
	VEC(struct source_symbol) symbols;
	struct map_u64 symbol_of; /* by address of its struct sym */
	uint64_t *rest;           /* of every image, samples without a line */

	/* The image at hand. */
	uint32_t image;
	const struct sym_lines *of;
	uint32_t *image_files; /* of its files, 1 + index into files; 0: not yet */
	uint32_t *image_names; /* of its inlined functions, 1 + index into names */
	uint64_t *run;         /* samples of one row of its lines */
	const struct sym_line *run_row; /* NULL: they have none */
};

void sources_build_fini(struct sources_build *b);

/* Sums up every row of the profile.  0, -EINTR, -ENOMEM. */
int sources_add_rows(struct sources_build *b);

#endif
