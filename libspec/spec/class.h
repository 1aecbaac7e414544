/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SPEC_CLASS_H
#define LIBSPEC_SPEC_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/name/name.h"

/*
 * Profile classes: sample files that count the same thing make one column of a table.
 * Source of the rules: OProfile's opreport, told in doc/opfs.5 "Columns".
 */
enum spec_axis {                  /* what columns may differ in */
		 SPEC_AXIS_EVENT, /* event, count, unit mask */
		 SPEC_AXIS_TGID,
		 SPEC_AXIS_TID,
		 SPEC_AXIS_CPU,
};

struct spec_class_rules {
	bool split_cpu, split_tid, split_tgid; /* a column each, instead of merged */
	bool merge_unitmask; /* events that differ in nothing else are one */
};

struct spec_class { /* borrowed from the first of its names */
	const char *event;
	uint64_t count;
	uint64_t unit_mask;     /* of merged ones: all bits that any has */
	int64_t tgid, tid, cpu; /* SPEC_ALL where it is merged, or not known */
};

struct spec_classes {
	struct spec_class *classes; /* in the order of columns */
	uint32_t *of_name;          /* of each name its class */
	size_t nr;
	enum spec_axis axis; /* what the columns differ in */
};

/**
 * spec_classes_init - sorts names into classes
 * @names: @nr of them, borrowed
 * @max: how many classes there may be
 * Returns 0; -EINVAL: classes differ in more than one axis, with OProfile's advice in
 * @err; -E2BIG; -ENOMEM.
 */
int spec_classes_init(struct spec_classes *c, const struct spec_name *const *names,
		      size_t nr, const struct spec_class_rules *rules, size_t max,
		      struct err *err);
void spec_classes_fini(struct spec_classes *c);

#endif
