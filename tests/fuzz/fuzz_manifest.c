/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libspec base */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libspec/name/clock.h"
#include "libspec/name/pid.h"
#include "libspec/session/manifest.h"
#include "libspec/spec/span.h"

/*
 * A MANIFEST, as it is and with the sum that makes its lines be read; and what paths say
 * of times and processes.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const struct spec_manifest *m)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	for (size_t i = 0; i < m->nr_facts; i++)
		spec_manifest_fact(m, m->facts[i].key);
	spec_manifest_time(m, SPEC_FACT_START);
	for (size_t i = 0; i < m->nr_files; i++) {
		size_t before = text.len;

		if (!*m->files[i].path)
			abort();
		spec_manifest_line(&text, m->files[i].sum, m->files[i].path);
		if (text.len - before != spec_manifest_line_len(m->files[i].path))
			abort();
	}
}

static void parse(const char *text, size_t len)
{
	CLEANUP(spec_manifest_fini) struct spec_manifest m = { 0 };
	struct err err = { 0 };

	if (!spec_manifest_parse(text, len, &m, &err))
		look_at(&m);
	else if (!err.msg[0])
		abort();
}

static void parse_words(const char *word)
{
	static const uint64_t now_ns = UINT64_C(1795253400) * SPEC_NS_PER_S;
	static const enum spec_tag_id tags[] = { SPEC_TIME, SPEC_LAST };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct spec_span span;
	uint64_t number;

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
		if (spec_span_parse(&spec_tags[tags[i]], word, now_ns, &span, NULL))
			continue;
		if (span.from_ns > span.to_ns)
			abort();
	}
	if (spec_clock_parse_utc(word, &number)) {
		spec_clock_utc(number, &text);
		spec_clock_parse_utc(strbuf_str(&text), &span.from_ns);
		if (span.from_ns != number)
			abort();
	}
	spec_clock_parse_name(word, &number);
	strbuf_reset(&text);
	if (strchr(word, '.') && spec_pid_parse(word, &number)) {
		spec_pid_show((int64_t)number, &text);
		if (!spec_pid_parse(strbuf_str(&text), &span.from_ns) ||
		    span.from_ns != number)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(free_ptr) char *word = strndup((const char *)data, size);

	parse((const char *)data, size);
	spec_manifest_begin(&text);
	strbuf_add(&text, data, size);
	if (!size || data[size - 1] != '\n')
		strbuf_putc(&text, '\n');
	spec_manifest_end(&text);
	parse(strbuf_str(&text), text.len);
	if (word)
		parse_words(word);
	return 0;
}
