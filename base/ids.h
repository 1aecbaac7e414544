/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_IDS_H
#define BASE_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Numbers of processes, threads or CPUs, in the order given.  A zeroed one is empty. */
struct ids {
	uint32_t *data;
	size_t len, cap;
};

void ids_fini(struct ids *ids);
/* Adds it, unless it is there.  0 or -ENOMEM. */
int ids_add(struct ids *ids, uint32_t id);
bool ids_has(const struct ids *ids, uint32_t id);

/**
 * ids_parse - adds numbers of processes or threads, "17,4711"
 * @what: how messages begin
 * Returns 0, -EINVAL or -ENOMEM.
 */
int ids_parse(struct ids *ids, const char *text, const char *what, struct err *err);
/* The same for CPUs, which begin with 0 and may be ranges: "0-3,7". */
int ids_parse_ranges(struct ids *ids, const char *text, const char *what,
		     struct err *err);

#endif
