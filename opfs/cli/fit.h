/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_FIT_H
#define OPFS_CLI_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/* Lays a report out for a terminal. */
struct fit {
	unsigned columns; /* 0: lines may be as long as they are */
	bool colors;      /* of shares */
	bool terminal;    /* no control character goes there, and an application is told
			   * only where it is another name than the image */
};
/* Appends the text.  Long fields lose their middle. */
void fit_text(const struct fit *f, const char *text, size_t len, struct strbuf *out);

#endif
