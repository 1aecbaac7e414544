/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_SOURCE_ENTRIES_H
#define OPFS_REPORT_SOURCE_ENTRIES_H

#include "opfs/report/source/sources.h"

/**
 * sources_name - gives files and the rest their entries and sorts the files by them
 * "/usr/src/main.c" becomes "usr/src/main.c"; a relative name is put below "relative/";
 * a component that is too long, and a name that is taken by a file or directory, ends in
 * "~" and spec_hash8(); ".." becomes "%2E%2E".
 * Returns 0 or -ENOMEM.
 */
int sources_name(struct sources *s);

#endif
