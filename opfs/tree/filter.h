/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_FILTER_H
#define OPFS_TREE_FILTER_H

#include <stdbool.h>

#include "base/map.h"
#include "base/names.h"
#include "libspec/spec/spec.h"
#include "opfs/profile/profile.h"

/* Symbols by their names: which a tag means, and how they are listed. */

/* Rows that symbol:, include-symbols: and exclude-symbols: leave. */
struct tree_filter {
	const struct spec_value *symbol, *include, *exclude; /* NULL: not given */
	const struct profile *p;         /* whose rows are asked about */
	const struct profile *names;     /* the same with names as sources have them */
	struct map_u64 by_sym;           /* rows of @names, if that is another */
	bool *include_raw, *exclude_raw; /* of each item: it is meant verbatim */
};
/* The values are set already. */
int tree_filter_init(struct tree_filter *f, const struct profile *p,
		     const struct profile *names, struct err *err);
void tree_filter_fini(struct tree_filter *f);
bool tree_filter_keeps(void *ctx, const struct profile_row *row);
/* Is that its name, as it is or as it is shown? */
bool tree_is_named(const struct profile_row *row, const char *name);

/* The names of the symbols of a profile as they are listed, each another one.
 * 0 or -ENOMEM. */
int tree_list_symbols(const struct profile *p, struct names *out);

#endif
