/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/events/text_source.h"

#include <errno.h>
#include <string.h>

static int read_text(void *ctx, const char *path, struct strbuf *text,
		     struct strbuf *name, struct err *err)
{
	const char *const *pairs = ctx;

	(void)err;
	for (size_t i = 0; pairs[i]; i += 2) {
		if (strcmp(pairs[i], path) != 0)
			continue;
		strbuf_puts(text, pairs[i + 1]);
		strbuf_puts(name, path);
		return 0;
	}
	return -ENOENT;
}

struct ev_source text_source(const char *const *pairs)
{
	return (struct ev_source){ read_text, (void *)pairs };
}
