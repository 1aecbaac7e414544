/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_TABLE_LINE_H
#define EVENTS_TABLE_LINE_H

#include "events/table/table.h"

/* A file of a table that is being read, and the words of its lines. */
enum {
	EV_MAX_FILE = 4 << 20, /* bytes */
	EV_MAX_DEPTH = 8,      /* files that include each other */
	EV_MAX_DEFS = 1 << 16,
	EV_MAX_MASKS = 1024, /* of a set: each is compared with each */
	EV_MAX_COUNTERS = 64,
};

/* One file being read. */
struct ev_parse {
	struct ev_table *t;
	const struct ev_source *from;
	struct err *err;
	const char *file; /* as messages call it */
	unsigned line;
	unsigned depth;                /* of includes */
	const char *cpu[EV_MAX_DEPTH]; /* whose files are open, outermost first */
	struct ev_masks *open;         /* unit_masks: the set whose masks follow */
	/* Reads the same file of another processor type. */
	int (*include)(struct ev_parse *p, const char *cpu, bool masks);
};

/* -EINVAL and "FILE:LINE: why". */
int ev_bad(const struct ev_parse *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int ev_no_memory(const struct ev_parse *p);

/* A word "tag:value", NUL-terminated. */
struct ev_tag {
	const char *tag, *value;
};

/**
 * ev_next_tag - takes the next "tag:value" from a line
 * @rest: moves behind it; the line is written to
 * Returns 1 and a tag; 0 at the end or at the lone ":" before a description, which
 * *rest then is, or NULL; -EINVAL.
 */
int ev_next_tag(const struct ev_parse *p, char **rest, struct ev_tag *out);
/* A hexadecimal number, with or without 0x. */
int ev_hex(const struct ev_parse *p, const char *what, const char *text, uint64_t max,
	   uint64_t *out);
int ev_decimal(const struct ev_parse *p, const char *what, const char *text, uint64_t min,
	       uint64_t max, uint64_t *out);
/* A name of letters, digits, _ and -; 0 or -EINVAL. */
int ev_name(const struct ev_parse *p, const char *what, const char *text);
char *ev_strdup(const struct ev_parse *p, const char *text);

#endif
