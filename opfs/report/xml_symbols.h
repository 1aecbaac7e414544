/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_XML_SYMBOLS_H
#define OPFS_REPORT_XML_SYMBOLS_H

#include <stdint.h>

#include "opfs/report/report_with.h"

/*
 * The part of report.xml about symbols, behind the binaries: symboltable, detailtable
 * and bytestable.  A symbol of a library that several applications ran is one symbol; it
 * gets its number when it is first referred to.
 */
#define XML_NO_ID UINT32_MAX

struct xml_symbol {
	const struct profile_row *row; /* one of its rows */
	uint32_t id;
	uint32_t nr_details;  /* given out so far */
	uint32_t first, last; /* of its rows with details, in xml_symbols.next */
};

struct xml_symbols {
	const struct report_job *job;
	struct xml_symbol *symbols;
	uint32_t *of_row; /* index into @symbols of each row of the profile */
	uint32_t *
		/* of each row of the profile with details: the next of its symbol */
		next;
	uint32_t *by_id; /* indices into @symbols */
	uint32_t nr, nr_ids;
};

/* 0 or -ENOMEM. */
int xml_symbols_init(struct xml_symbols *s, const struct report_job *job);
void xml_symbols_fini(struct xml_symbols *s);

/* The number of a row's symbol. */
uint32_t xml_symbol_id(struct xml_symbols *s, const struct profile_row *row);
/*
 * The number of the first of the details that a row, which was referred to before, has
 * from here on in the detailtable; each row once.
 */
uint32_t xml_symbol_details(struct xml_symbols *s, const struct profile_row *row);

/* Writes the elements count for some figures, one a class. */
typedef void xml_add_counts(void *ctx, const uint64_t *samples);

/* The three tables.  0, -EINTR, -ENOMEM, or why helpers cannot be started. */
int xml_symbols_write(struct xml_symbols *s, const struct report_lines *lines,
		      xml_add_counts *counts, void *ctx, struct strbuf *out,
		      struct err *err);

#endif
