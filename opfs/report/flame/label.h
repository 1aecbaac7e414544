/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_FLAME_LABEL_H
#define OPFS_REPORT_FLAME_LABEL_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Appends what can be shown of any bytes, as the text of an XML element or attribute: at
 * most @columns of them, the last being an ellipsis if it is cut; no control characters.
 * A character takes one column or, where fonts may have it wide, two.
 */
void flame_label(const char *text, size_t columns, struct strbuf *out);

#endif
