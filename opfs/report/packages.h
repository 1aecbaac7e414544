/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_PACKAGES_H
#define OPFS_REPORT_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Which packages have the debug symbols of binaries, as far as this machine knows. */

struct package_owner {
	const char *path; /* absolute; NULL: nothing is looked for */
	char debug[96];   /* "coreutils-dbgsym"; "": not known */
};

/**
 * packages_find - looks for the packages that own files
 * @info: where dpkg keeps lists of files, /var/lib/dpkg/info
 * Reads lists until all are found, each and all of them up to a bound.  A file is looked
 * for in /usr and in / where one is a link to the other.  What cannot be read is passed
 * over.  False if there are no lists.
 */
bool packages_find(const char *info, struct package_owner *all, size_t nr);

/* Appends how the debug symbols of a file are had here: its package, else the command of
 * systems with rpm; nothing if that is not known. */
void packages_advice(const struct package_owner *of, bool has_rpm, struct strbuf *out);

#endif
