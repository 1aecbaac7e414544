/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libspec base */
/* A word of a path: tag, list, pattern, escapes; and what it matches. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/spec/match.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct spec_match_image images[] = {
	{ "/usr/bin/ls", "ls", NULL, "ls", false },
	{ "/opt/a,b", "a,b", NULL, "a,b~1", false },
	{ "/no-vmlinux", "no-vmlinux", NULL, "no-vmlinux", true },
	{ "[heap] (tgid:1 range:0x1-0x2)", "[heap] (tgid:1 range:0x1-0x2)", "[heap]",
	  "[heap]", false },
};

enum { NR_IMAGES = sizeof(images) / sizeof(*images) };

static bool has_image(void *ctx, const char *name, size_t *only)
{
	(void)ctx, (void)only;
	for (size_t i = 0; i < NR_IMAGES; i++)
		if (!strcmp(images[i].shown, name) || !strcmp(images[i].base, name))
			return true;
	return false;
}

static bool has_event(void *ctx, const char *name)
{
	(void)ctx;
	return !strcmp(name, "CPU_CLK_UNHALTED");
}

static int resolve(void *ctx, const char *path, struct strbuf *out)
{
	(void)ctx;
	strbuf_printf(out, "/usr%s", path);
	return strbuf_error(out);
}

/* What a listing makes of a name must be one component that means the name. */
static void check_listed(const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf listed = { 0 }, back = { 0 };

	spec_listed(name, false, name, &listed);
	if (listed.len > SPEC_LISTED_MAX || strchr(strbuf_str(&listed), '/'))
		abort();
	spec_decode(strbuf_str(&listed), &back);
	if (!spec_listed_cut(strbuf_str(&listed)) && strcmp(strbuf_str(&back), name) != 0)
		abort();
}

static int mark_jit(void *ctx, bool *bits)
{
	(void)ctx;
	bits[NR_IMAGES - 1] = true;
	return 0;
}

static void check_value(const struct spec_match *m, const struct spec_tag *tag,
			const char *raw)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	bool bits[NR_IMAGES], found;

	if (spec_value_new(tag, raw, (strlen(raw) & 1) != 0, &v, NULL))
		return;
	spec_match_images(m, v, false, bits, NULL);
	spec_match_images(m, v, true, bits, NULL);
	spec_match_item(m, v, v->items.nr - 1, &found, NULL);
	spec_match_event(m, v, "CPU_CLK_UNHALTED");
	spec_match_number(v, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct spec_match m = { .images = images,
					     .nr_images = NR_IMAGES,
					     .has_image = has_image,
					     .has_event = has_event,
					     .resolve = resolve,
					     .mark_jit = mark_jit };
	CLEANUP(free_ptr) char *word = strndup((const char *)data, size);
	struct spec_word w;

	if (!word || size > 4096)
		return 0;
	check_listed(word);
	if (spec_word_parse(word, strlen(word), &w) && w.value)
		check_value(&m, w.tag, w.value);
	else
		check_value(&m, &spec_tags[SPEC_DEFAULT], word);
	return 0;
}
