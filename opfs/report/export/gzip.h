/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_EXPORT_GZIP_H
#define OPFS_REPORT_EXPORT_GZIP_H

#include <stddef.h>

#include "base/strbuf.h"
#include "base/viewer.h"

/* Appends @len bytes as gzip(1) packs them, without a time: the same bytes each time.
 * 0, -ENOMEM, -EINTR. */
int gzip_pack(const void *data, size_t len, const struct viewer *v, struct strbuf *out);

#endif
