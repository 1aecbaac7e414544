/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/spec/field.h"

#define NUMBER(member) .number = offsetof(struct spec_name, member)
#define TEXT(member) .text = offsetof(struct spec_task, member)

/* In the order of links in directories. */
const struct spec_field spec_fields[] = {
	{ SPEC_TGID, NUMBER(tgid), .separated = "thread" },
	{ SPEC_TID, NUMBER(tid), .separated = "thread" },
	{ SPEC_CPU, NUMBER(cpu), .separated = "cpu" },
	{ SPEC_COMM, TEXT(comm), .separated = "thread" },
	{ SPEC_CGROUP, TEXT(cgroup), .separated = "thread" },
	{ SPEC_COUNT, NUMBER(count) },
	{ SPEC_UNIT_MASK, NUMBER(unit_mask) },
};
const size_t spec_nr_fields = sizeof(spec_fields) / sizeof(spec_fields[0]);

const struct spec_field *spec_field_of(enum spec_tag_id tag)
{
	for (size_t i = 0; i < spec_nr_fields; i++)
		if (spec_fields[i].tag == tag)
			return &spec_fields[i];
	return NULL;
}

int64_t spec_field_number(const struct spec_field *f, const struct spec_name *n)
{
	return *(const int64_t *)((const char *)n + f->number);
}

const char *spec_field_text(const struct spec_field *f, const struct spec_task *t)
{
	return t ? *(char *const *)((const char *)t + f->text) : NULL;
}
