/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libspec base */
/* Paths of sample files: what is understood can be written and means the same again. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/name/name.h"
#include "tests/fuzz/fuzz.h"

static void expect_same(const struct spec_name *a, const struct spec_name *b)
{
	require(spec_image_equal(&a->app, &b->app));
	require(spec_image_equal(&a->image, &b->image));
	require(spec_image_equal(&a->callee, &b->callee));
	require(!strcmp(a->event, b->event));
	require(a->count == b->count && a->unit_mask == b->unit_mask);
	require(a->tgid == b->tgid && a->tid == b->tid && a->cpu == b->cpu);
}

static void parse(const char *path, bool escaped)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };
	CLEANUP(spec_name_fini) struct spec_name again = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct err err = { 0 };

	if (spec_name_parse(path, escaped, &n, &err)) {
		require(err.code < 0 && *err.msg);
		return;
	}
	spec_image_show(&n.image, &text);
	strbuf_reset(&text);
	if (spec_name_format(&n, &text, &err)) {
		require(err.code == -ENAMETOOLONG); /* escaped */
		return;
	}
	require(!spec_name_parse(text.data, true, &again, NULL));
	expect_same(&n, &again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path = calloc(1, size + 1);

	if (!path)
		return 0;
	memcpy(path, data, size);
	parse(path, false);
	parse(path, true);
	free(path);
	return 0;
}
