/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_EXPORT_PPROF_H
#define OPFS_REPORT_EXPORT_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/strbuf.h"

/*
 * A message of pprof's profile.proto, before it is packed.  Source:
 * github.com/google/pprof/proto/profile.proto.  Ids are of the caller's choice, but
 * not 0.
 */
struct pprof {
	struct strbuf out;         /* all fields but the strings; of any order */
	struct strbuf strings;     /* field string_table */
	struct map known;          /* string -> index */
	struct strbuf part, inner; /* of the message at hand */
	bool failed;               /* out of memory */
};

/* 0 or -ENOMEM; pprof_fini() in any case. */
int pprof_init(struct pprof *b);
void pprof_fini(struct pprof *b); /* accepts a zeroed one */

/* What the first and the second value of each sample are, and so on. */
void pprof_sample_type(struct pprof *b, const char *type, const char *unit);

struct pprof_mapping {
	uint64_t id;
	const char *file, *build_id;
};
/* Addresses in it are those of the file, which pprof is to leave as they are. */
void pprof_mapping(struct pprof *b, const struct pprof_mapping *m);

/* @system: as the linker knows it; @file: where it is in the source, NULL: not known. */
void pprof_function(struct pprof *b, uint64_t id, const char *name, const char *system,
		    const char *file);

struct pprof_line {
	uint64_t function;
	uint32_t line; /* 0: not known */
};
/* @mapping: 0 if it is in none; @lines: at least one; what is inlined there comes first,
 * the innermost before all others. */
void pprof_location(struct pprof *b, uint64_t id, uint64_t mapping, uint64_t address,
		    const struct pprof_line *lines, size_t nr_lines);

struct pprof_label {
	const char *key;
	int64_t number;
};
/* @locations: innermost first, as varints (pb_varint()) */
void pprof_sample(struct pprof *b, const struct strbuf *locations, const uint64_t *values,
		  size_t nr_values, const struct pprof_label *labels, size_t nr_labels);

struct pprof_facts {
	uint64_t time_ns, duration_ns; /* 0: unknown */
	const char *type, *unit; /* what was counted, of which @period is a sample */
	uint64_t period;
	const char *comments; /* lines */
};
void pprof_facts(struct pprof *b, const struct pprof_facts *f);

/* The whole message, in b->out.  0 or -ENOMEM if anything did not fit in memory. */
int pprof_finish(struct pprof *b);

#endif
