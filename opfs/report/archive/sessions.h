/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_ARCHIVE_SESSIONS_H
#define OPFS_REPORT_ARCHIVE_SESSIONS_H

#include "opfs/report/archive/archive.h"

/* Adds sample files and tables of every session.  0, -EINTR or -ENOMEM. */
int archive_add_sessions(struct archive *a);

#endif
