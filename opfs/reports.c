/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/reports.h"

#define REPORT(id) extern const struct report report_##id;
#include "opfs/report_list.h"
#undef REPORT

static const struct report *const reports[] = {
#define REPORT(id) &report_##id,
#include "opfs/report_list.h"
#undef REPORT
};

const struct report_set opfs_reports = { reports, sizeof(reports) / sizeof(reports[0]) };
