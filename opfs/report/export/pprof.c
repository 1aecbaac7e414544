/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/pprof.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/report/export/export.h"
#include "opfs/report/export/pb.h"

/* Numbers of fields. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,

	VALUE_TYPE = 1,
	VALUE_UNIT = 2,

	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,

	LABEL_KEY = 1,
	LABEL_NUM = 3,
	LABEL_NUM_UNIT = 4,

	MAPPING_ID = 1,
	MAPPING_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,

	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,

	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,

	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

/* ---- strings */

/* The index of a string, which has to be UTF-8 there. */
static uint64_t index_of(struct pprof *b, const char *text)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	uint64_t at;

	export_name(&name, text, "");
	if (map_get(&b->known, strbuf_str(&name), name.len, &at))
		return at;
	at = b->known.used;
	if (strbuf_error(&name) || map_set(&b->known, strbuf_str(&name), name.len, at))
		b->failed = true;
	pb_message(&b->strings, PROFILE_STRING_TABLE, &name);
	return at;
}

int pprof_init(struct pprof *b)
{
	*b = (struct pprof){ 0 };
	index_of(b, ""); /* string 0 has to be that */
	return b->failed ? -ENOMEM : 0;
}

void pprof_fini(struct pprof *b)
{
	strbuf_fini(&b->out);
	strbuf_fini(&b->strings);
	strbuf_fini(&b->part);
	strbuf_fini(&b->inner);
	map_fini(&b->known);
}

/* ---- messages */

static void put_value_type(struct pprof *b, unsigned field, const char *type,
			   const char *unit)
{
	strbuf_reset(&b->part);
	pb_number(&b->part, VALUE_TYPE, index_of(b, type));
	pb_number(&b->part, VALUE_UNIT, index_of(b, unit));
	pb_message(&b->out, field, &b->part);
}

void pprof_sample_type(struct pprof *b, const char *type, const char *unit)
{
	put_value_type(b, PROFILE_SAMPLE_TYPE, type, unit);
}

/* A mapping from 0 to the end, of the file from 0 on, is to pprof one whose addresses
 * were adjusted already; and one that has functions needs no others. */
void pprof_mapping(struct pprof *b, const struct pprof_mapping *m)
{
	strbuf_reset(&b->part);
	pb_number(&b->part, MAPPING_ID, m->id);
	pb_number(&b->part, MAPPING_LIMIT, UINT64_MAX);
	pb_number(&b->part, MAPPING_FILENAME, index_of(b, m->file));
	pb_number(&b->part, MAPPING_BUILD_ID, index_of(b, m->build_id));
	pb_number(&b->part, MAPPING_HAS_FUNCTIONS, 1);
	pb_message(&b->out, PROFILE_MAPPING, &b->part);
}

void pprof_function(struct pprof *b, uint64_t id, const char *name, const char *system,
		    const char *file)
{
	strbuf_reset(&b->part);
	pb_number(&b->part, FUNCTION_ID, id);
	pb_number(&b->part, FUNCTION_NAME, index_of(b, name));
	pb_number(&b->part, FUNCTION_SYSTEM_NAME, index_of(b, system));
	if (file)
		pb_number(&b->part, FUNCTION_FILENAME, index_of(b, file));
	pb_message(&b->out, PROFILE_FUNCTION, &b->part);
}

void pprof_location(struct pprof *b, uint64_t id, uint64_t mapping, uint64_t address,
		    const struct pprof_line *lines, size_t nr_lines)
{
	strbuf_reset(&b->part);
	pb_number(&b->part, LOCATION_ID, id);
	pb_number(&b->part, LOCATION_MAPPING_ID, mapping);
	pb_number(&b->part, LOCATION_ADDRESS, address);
	for (size_t i = 0; i < nr_lines; i++) {
		strbuf_reset(&b->inner);
		pb_number(&b->inner, LINE_FUNCTION_ID, lines[i].function);
		if (lines[i].line)
			pb_number(&b->inner, LINE_LINE, lines[i].line);
		pb_message(&b->part, LOCATION_LINE, &b->inner);
	}
	pb_message(&b->out, PROFILE_LOCATION, &b->part);
}

/* Without a unit, pprof passes over a label whose number is 0. */
static void put_label(struct pprof *b, const struct pprof_label *label)
{
	strbuf_reset(&b->inner);
	pb_number(&b->inner, LABEL_KEY, index_of(b, label->key));
	pb_number(&b->inner, LABEL_NUM, (uint64_t)label->number);
	pb_number(&b->inner, LABEL_NUM_UNIT, index_of(b, label->key));
	pb_message(&b->part, SAMPLE_LABEL, &b->inner);
}

void pprof_sample(struct pprof *b, const struct strbuf *locations, const uint64_t *values,
		  size_t nr_values, const struct pprof_label *labels, size_t nr_labels)
{
	strbuf_reset(&b->part);
	pb_message(&b->part, SAMPLE_LOCATION_ID, locations);
	strbuf_reset(&b->inner);
	for (size_t i = 0; i < nr_values; i++)
		pb_varint(&b->inner, values[i]);
	pb_message(&b->part, SAMPLE_VALUE, &b->inner);
	for (size_t i = 0; i < nr_labels; i++)
		put_label(b, &labels[i]);
	pb_message(&b->out, PROFILE_SAMPLE, &b->part);
}

static void put_comments(struct pprof *b, const char *lines)
{
	strbuf_reset(&b->part);
	for (size_t len; *lines; lines += len) {
		len = strcspn(lines, "\n");
		strbuf_reset(&b->inner);
		strbuf_add(&b->inner, lines, len);
		pb_varint(&b->part, index_of(b, strbuf_str(&b->inner)));
		len += lines[len] == '\n';
	}
	pb_message(&b->out, PROFILE_COMMENT, &b->part);
}

void pprof_facts(struct pprof *b, const struct pprof_facts *f)
{
	pb_number(&b->out, PROFILE_TIME_NANOS, f->time_ns);
	pb_number(&b->out, PROFILE_DURATION_NANOS, f->duration_ns);
	put_value_type(b, PROFILE_PERIOD_TYPE, f->type, f->unit);
	pb_number(&b->out, PROFILE_PERIOD, f->period);
	put_comments(b, f->comments);
	pb_number(&b->out, PROFILE_DEFAULT_SAMPLE_TYPE, index_of(b, f->type));
}

int pprof_finish(struct pprof *b)
{
	if (b->failed || strbuf_error(&b->strings))
		return -ENOMEM;
	strbuf_add(&b->out, b->strings.data, b->strings.len);
	return strbuf_error(&b->out);
}
