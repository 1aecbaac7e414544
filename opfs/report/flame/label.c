/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/flame/label.h"

#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/markup.h"
#include "base/utf8.h"

/* As flame.js has it: from U+1000 on, and what is no character. */
static size_t columns_of(const unsigned char *at, size_t len)
{
	return (!len || *at > 0xe0) ? 2 : 1;
}

/* Bytes that fit; *cut: it is not all. */
static size_t fitting(const char *text, size_t columns, bool *cut)
{
	size_t used = 0, shorter = 0, at = 0;

	*cut = false;
	while (text[at]) {
		size_t left = strnlen(text + at, 4), len = utf8_len(text + at, left);

		used += columns_of((const unsigned char *)text + at, len);
		if (used > columns) {
			*cut = true;
			return shorter;
		}
		at += len ? len : 1;
		if (used < columns)
			shorter = at; /* an ellipsis fits behind it */
	}
	return at;
}

void flame_label(const char *text, size_t columns, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
	bool cut;
	size_t len = fitting(text, columns, &cut);

	strbuf_add(&shown, text, len);
	if (strbuf_error(&shown)) {
		out->failed = true;
		return;
	}
	utf8_no_controls(shown.data);
	markup_xml(shown.data, out);
	if (cut && columns)
		strbuf_puts(out, "\xe2\x80\xa6");
}
