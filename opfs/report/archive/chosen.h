/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_ARCHIVE_CHOSEN_H
#define OPFS_REPORT_ARCHIVE_CHOSEN_H

#include <stdbool.h>
#include <stddef.h>

#include "opfs/report/report.h"

/* What of its sessions an archive holds: the sample files that the path selects, each
 * whole, and their images. */
struct chosen {
	bool *files, *images; /* parallel to those of the catalog */
};

/* 0 or -ENOMEM. */
int chosen_init(struct chosen *c, const struct report_job *job);
void chosen_fini(struct chosen *c); /* accepts a zeroed one */

#endif
