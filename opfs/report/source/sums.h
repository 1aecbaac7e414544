/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_SOURCE_SUMS_H
#define OPFS_REPORT_SOURCE_SUMS_H

#include "base/map.h"
#include "base/vec.h"
#include "opfs/profile/lines.h"
#include "opfs/report/source/sources.h"

/* Samples by source line, in the making: sums over the rows of a profile. */

struct sum { /* of a line, or of a call of an inlined function there */
	uint32_t file, line;
	uint32_t name; /* of a call: index into names */
	size_t at;     /* of its first number in counts */
};

struct source_sums {
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

	/* The current image. */
	uint32_t image;
	const struct sym_lines *of;
	uint32_t *image_files; /* of its files, 1 + index into files; 0: not yet */
	uint32_t *image_names; /* of its inlined functions, 1 + index into names */
	uint64_t *run;         /* samples of one row of its lines */
	const struct sym_line *run_row; /* NULL: they have none */
};

void source_sums_fini(struct source_sums *b);

/* Sums up every row of the profile.  0, -EINTR, -ENOMEM. */
int source_sums_add(struct source_sums *b);

#endif
