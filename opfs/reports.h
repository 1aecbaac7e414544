/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORTS_H
#define OPFS_REPORTS_H

#include "opfs/report/report.h"

/* The files of every profile directory: the rows of report_list.h. */
extern const struct report_set opfs_reports;

#endif
