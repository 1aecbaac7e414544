/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_JSON_HEAD_H
#define OPFS_REPORT_JSON_HEAD_H

#include "base/json.h"
#include "opfs/profile/profile.h"
#include "opfs/report/view.h"

/* The members of report.json besides its rows; the object is open. */

/* "cpu" and "classes". */
void json_classes(struct json *j, const struct view *view);
/* "sessions": figures and losses of each. */
void json_sessions(struct json *j, const struct profile *p);
/* "images": those of the selection, and why one has no symbols.  0 or -ENOMEM. */
int json_images(struct json *j, const struct profile *p);
/* "damaged": sample files that could not be read. */
void json_damaged(struct json *j, const struct profile *p);

#endif
