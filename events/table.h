/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TABLE_H
#define EVENTS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"

/*
 * Tables of events, in OProfile's syntax: opfs-events(7).  A processor type is a
 * directory ARCH/CPU with the files "events" and "unit_masks".
 */

/* Extra bits of a unit mask, where Intel's event select registers have them. */
enum {
	EV_EDGE = 1u << 18,
	EV_ANY = 1u << 21,
	EV_INV = 1u << 23,
	EV_CMASK_SHIFT = 24,
	EV_CMASK_MAX = 0x7f,
};
#define EV_PEBS (1u << 31) /* no bit of the register: a precise event */

struct ev_mask {
	const char *name; /* NULL: it has none */
	const char *doc;
	uint32_t value; /* as people and sample files write it */
	uint32_t extra; /* EV_EDGE ... EV_PEBS */
	bool raw;       /* what it adds to the event are these, not @value: */
	uint64_t config, config1;
	unsigned line;
};

enum ev_mask_type { EV_MANDATORY, EV_EXCLUSIVE, EV_BITMASK };

/* A set of unit masks that events share. */
struct ev_masks {
	const char *name;
	enum ev_mask_type type;
	uint32_t default_value;
	const char *default_name; /* NULL: the default is @default_value */
	VEC(struct ev_mask) all;
	const char *file;
	unsigned line;
	bool used, included;
};

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
 * Returns 0 and a table of the caller's, ev_table_free(); -ENOENT if there is none, -EINVAL
 * for what is wrong in it, as "FILE:LINE: why".
 */
int ev_table_load(const struct ev_source *from, const char *cpu, struct ev_table **out,
		  struct err *err);
void ev_table_free(struct ev_table *t);

/* The event of a name, exactly as written, else in any case; NULL: none. */
const struct ev_def *ev_table_find(const struct ev_table *t, const char *name);

/* By what number sample files know a unit mask: unique in its set. */
uint32_t ev_mask_number(const struct ev_mask *m);

/* The mask of a name, in any case; NULL: none. */
const struct ev_mask *ev_masks_by_name(const struct ev_masks *s, const char *name);
/* The mask that sample files know by a number, else the only one of that value; NULL: none,
 * or *several. */
const struct ev_mask *ev_masks_by_number(const struct ev_masks *s, uint32_t number,
					 bool *several);
/* Is it a sum of masks of a bitmask? */
bool ev_masks_sum(const struct ev_masks *s, uint32_t number);

/* The default of a set: *mask is NULL where it is a sum of several. */
uint32_t ev_masks_default(const struct ev_masks *s, const struct ev_mask **mask);

/* "mandatory", "exclusive" or "bitmask". */
const char *ev_mask_type_name(enum ev_mask_type type);

#endif
