/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libsym base */
/*
 * A text that is taken for the demangled name of a function, made shorter in each way.  A
 * byte that is read beyond its end is found by the sanitizer, since it is no longer than
 * it must be.
 */
#include "base/cleanup.h"
#include "libsym/table/short.h"
#include "libsym/table/smart.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_TEXT = 4096 };

/* "<a>" becomes "<...>": no text grows more. */
static void check_short(const char *text)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	size_t len = strlen(text);

	strbuf_puts(&out, "before");
	sym_short_name(text, &out);
	require(!strbuf_error(&out));
	require(!strncmp(out.data, "before", 6));
	require(strlen(out.data) == out.len);
	require(!len == (out.len == 6));
	require(out.len - 6 <= 2 * len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_fini) struct strbuf smart = { 0 };
	CLEANUP(free_ptr) char *text = NULL;

	if (size > MAX_TEXT)
		return 0;
	text = strndup((const char *)data, size);
	if (!text)
		return 0;
	check_short(text);
	sym_demangle_smart(text, &smart);
	check_short(strbuf_str(&smart));
	return 0;
}
