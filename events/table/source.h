/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef EVENTS_SOURCE_H
#define EVENTS_SOURCE_H

#include "base/err.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "events/table/table.h"

/*
 * Where tables are: below $OPROFILE_EVENTS_DIR if that is set, else below
 * ../share/opfs/events of the directory of the program that runs; tables that are not
 * there are taken from the program itself, if it carries them.
 */
extern const struct ev_source ev_installed;

/* Every processor type there is a table of, sorted. */
int ev_cpu_types(struct names *out, struct err *err);

#endif
