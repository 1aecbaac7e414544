/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_ARCHIVE_IMAGES_H
#define OPFS_REPORT_ARCHIVE_IMAGES_H

#include "opfs/report/archive/archive.h"

/*
 * Adds the sampled binaries, their debug files and sources, and what only the running
 * system can tell of its kernel.  0, -EINTR or -ENOMEM.
 */
int archive_add_images(struct archive *a);

#endif
