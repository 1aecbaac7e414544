/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_GMON_H
#define OPFS_REPORT_GMON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"

/*
 * Makes a gmon.out, version 1, for gprof.  gprof credits two bytes at a time to the last
 * symbol that begins at or before them, whatever the sizes say.  So a sample is put
 * where gprof credits the sample's own symbol; a sample whose symbol gprof does not know
 * is put before all symbols, where it counts in the total only.
 * gmon_symbol() for every symbol, gmon_sort(), then samples and arcs, then gmon_write().
 */
struct gmon_bin {
	uint64_t unit; /* address / 2 */
	uint64_t count;
	uint32_t owner; /* index into starts, GMON_NOBODY */
};

struct gmon_arc {
	uint64_t from, self, count;
};

struct gmon {
	VEC(uint64_t)
	starts; /* units at which gprof's symbols begin; sorted, none twice */
	VEC(struct gmon_bin) bins;
	VEC(struct gmon_arc) arcs;
	bool narrow; /* of a 32-bit binary: so are the addresses */
};

#define GMON_NOBODY UINT32_MAX

/* A larger file is refused. */
#define GMON_MAX_BYTES (256u << 20)

/* True if gprof takes a symbol of that name for a function. */
bool gmon_knows(const char *name, bool global);

int gmon_symbol(struct gmon *g, uint64_t vma); /* 0 or -ENOMEM */
void gmon_sort(struct gmon *g);
/* @count samples at @vma, in the symbol that begins at @start.  0 or -ENOMEM. */
int gmon_sample(struct gmon *g, uint64_t vma, uint64_t start, uint64_t count);
/* Samples whose symbol gprof does not know. */
int gmon_nobody(struct gmon *g, uint64_t count);
/* A call at @from of the function at @self.  0 or -ENOMEM. */
int gmon_call(struct gmon *g, uint64_t from, uint64_t self, uint64_t count);

/**
 * gmon_write - appends the file
 * A count above 65,535 is spread over several histograms of the same range, which gprof
 * adds up; ranges without samples have none.
 * Returns 0; -EINVAL: it would be too large, with the reason; -ENOMEM.
 */
int gmon_write(struct gmon *g, struct strbuf *out, struct err *err);

/* Accepts a zeroed one. */
void gmon_fini(struct gmon *g);

#endif
