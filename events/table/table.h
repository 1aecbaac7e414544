/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TABLE_TABLE_H
#define EVENTS_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "events/table/masks.h"

/*
 * Tables of events, in OProfile's syntax: opfs-events(7).  A processor type is a
 * directory ARCH/CPU with the files "events" and "unit_masks".
 */

struct ev_def {
	const char *name, *doc;
	const char *ext; /* not of the core's counters: whose; NULL: of the counters */
	uint64_t code;
	uint64_t counters;   /* bit N: counter N can count it; 0: only the kernel knows */
	bool cpuid_counters; /* counters: CPUID tells */
	uint64_t minimum;    /* fewest events a sample */
	uint64_t count;      /* of a sample, if none is given; 0: by the rate */
	const struct ev_masks *masks; /* NULL: none */
	const char *file;
	unsigned line;
};

struct ev_table {
	char *cpu; /* "i386/arch_perfmon" */
	struct arena mem;
	VEC(struct ev_def) defs; /* in the order of the files */
	VEC(struct ev_masks *) masks;
};

/* Where the text of tables comes from. */
struct ev_source {
	/* Appends the file @path ("ARCH/CPU/events") and says in @name how messages call
	 * it.  0, -ENOENT without a message, or -errno with one. */
	int (*read)(void *ctx, const char *path, struct strbuf *text, struct strbuf *name,
		    struct err *err);
	void *ctx;
};

/**
 * ev_table_load - reads the table of a processor type
 * @cpu: "ARCH/CPU"
 * Returns 0 and a table of the caller's, ev_table_free(); -ENOENT if there is none, also
 * for a name that no table can have; -EINVAL for what is wrong in it, as "FILE:LINE:
 * why".
 */
int ev_table_load(const struct ev_source *from, const char *cpu, struct ev_table **out,
		  struct err *err);
void ev_table_free(struct ev_table *t);

/* The event of a name, exactly as written, else in any case; NULL: none. */
const struct ev_def *ev_table_find(const struct ev_table *t, const char *name);

#endif
