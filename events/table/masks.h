/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TABLE_MASKS_H
#define EVENTS_TABLE_MASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct ev_parse;

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

/* By what number sample files know a unit mask: unique in its set. */
uint32_t ev_mask_number(const struct ev_mask *m);

/* The mask of a name, in any case; NULL: none. */
const struct ev_mask *ev_masks_by_name(const struct ev_masks *s, const char *name);
/* The mask that sample files know by a number, else the only one of that value; NULL:
 * none, or *several. */
const struct ev_mask *ev_masks_by_number(const struct ev_masks *s, uint32_t number,
					 bool *several);
/* Is it a sum of masks of a bitmask? */
bool ev_masks_sum(const struct ev_masks *s, uint32_t number);

/* The default of a set: *mask is NULL where it is a sum of several. */
uint32_t ev_masks_default(const struct ev_masks *s, const struct ev_mask **mask);

/* "mandatory", "exclusive" or "bitmask". */
const char *ev_mask_type_name(enum ev_mask_type type);

/* ---- for the parser of tables */

/* Takes a line of "unit_masks" that is neither empty nor a comment; NULL: the end. */
int ev_mask_line(struct ev_parse *p, char *line);
/* The set of a name, or of several joined by commas; NULL and a message: there is
 * none. */
const struct ev_masks *ev_find_masks(struct ev_parse *p, const char *name);

#endif
