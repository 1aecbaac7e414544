/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SPEC_FIELD_H
#define LIBSPEC_SPEC_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "libspec/name/name.h"
#include "libspec/session/tasks.h"
#include "libspec/spec/spec.h"

/* What a sample file, or its process, says for a tag that selects by numbers or texts. */
struct spec_field {
	enum spec_tag_id tag;
	size_t number;         /* SPEC_TAG_NUMBERS: where it is in struct spec_name */
	size_t text;           /* SPEC_TAG_TASKS: where it is in struct spec_task */
	const char *separated; /* what --separate must have had; NULL: nothing */
};

extern const struct spec_field spec_fields[];
extern const size_t spec_nr_fields;

/* NULL: the tag selects by something else. */
const struct spec_field *spec_field_of(enum spec_tag_id tag);
/* The number; SPEC_ALL: not separated. */
int64_t spec_field_number(const struct spec_field *f, const struct spec_name *n);
/* The text, borrowed; NULL: not known, also of a process that is not known (NULL). */
const char *spec_field_text(const struct spec_field *f, const struct spec_task *t);

#endif
