/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/xml_head.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/markup.h"
#include "libspec/sample/cpu_type.h"
#include "opfs/report/header.h"
#include "opfs/report/report_with.h"

static bool same_event(const struct profile_class *a, const struct profile_class *b)
{
	return a->count == b->count && a->unit_mask == b->unit_mask &&
	       !strcmp(a->event, b->event);
}

int xml_classes_init(struct xml_classes *k, const struct profile *p)
{
	*k = (struct xml_classes){ .p = p };
	k->events = calloc(p->nr_classes + 1, sizeof(*k->events));
	if (!k->events)
		return -ENOMEM;
	for (size_t c = 0; c < p->nr_classes; c++) {
		size_t first = 0;

		while (!same_event(&p->classes[first], &p->classes[c]))
			first++;
		k->events[c] = first == c ? k->nr_events++ : k->events[first];
		k->told = k->told || p->classes[c].unit_mask;
	}
	k->told = k->told || p->nr_classes > 1 || p->axis != SPEC_AXIS_EVENT;
	return 0;
}

void xml_classes_fini(struct xml_classes *k)
{
	free(k->events);
	*k = (struct xml_classes){ 0 };
}

static void add_attribute(const char *name, const char *value, struct strbuf *out)
{
	strbuf_printf(out, " %s=\"", name);
	markup_xml(value, out);
	strbuf_putc(out, '"');
}

/* ---- what was counted */

static void add_setup(const struct xml_classes *k, struct strbuf *out)
{
	uint32_t next = 0;

	strbuf_puts(out, "<setup>\n");
	for (size_t c = 0; c < k->p->nr_classes; c++) {
		const struct profile_class *class = &k->p->classes[c];

		if (k->events[c] != next)
			continue;
		next++;
		if (k->nr_events == 1 && class->header->cpu_type == HEADER_CPU_TIMER) {
			strbuf_printf(out,
				      "<timersetup  rtcinterrupts=\"%" PRIu64 "\"/>\n",
				      class->count);
			continue;
		}
		strbuf_printf(out, "<eventsetup  id=\"%" PRIu32 "\" ", k->events[c]);
		add_attribute("eventname", class->event, out);
		strbuf_printf(out,
			      " unitmask=\"%" PRIu64 "\" setupcount=\"%" PRIu64 "\"/>\n",
			      class->unit_mask, class->count);
	}
	strbuf_puts(out, "</setup>\n\n");
}

static void add_number(const char *name, int64_t n, struct strbuf *out)
{
	if (n != SPEC_ALL)
		strbuf_printf(out, " %s=\"%" PRId64 "\"", name, n);
}

static void add_classes(const struct xml_classes *k, struct strbuf *out)
{
	bool masks = false;

	for (size_t c = 0; c < k->p->nr_classes; c++)
		masks = masks || k->p->classes[c].unit_mask;
	strbuf_puts(out, "<classes>\n");
	for (size_t c = 0; c < k->p->nr_classes; c++) {
		const struct profile_class *class = &k->p->classes[c];

		strbuf_printf(out, "<class  name=\"c%zu\"", c);
		add_number("cpu", class->cpu, out);
		add_number("tgid", class->tgid, out);
		add_number("tid", class->tid, out);
		if (k->nr_events > 1)
			strbuf_printf(out, " event=\"%" PRIu32 "\"", k->events[c]);
		if (masks)
			strbuf_printf(out, " mask=\"%" PRIu64 "\"", class->unit_mask);
		strbuf_puts(out, "/>\n");
	}
	strbuf_puts(out, "</classes>\n");
}

/* ---- the processor, and what was asked for */

static int64_t highest_cpu(const struct profile *p)
{
	int64_t highest = 0;

	for (size_t c = 0; c < p->nr_classes; c++)
		if (p->classes[c].cpu > highest)
			highest = p->classes[c].cpu;
	return highest;
}

static void add_profile(const struct report_job *job, struct strbuf *out)
{
	const struct profile *p = job->p;
	const struct spec_sample_header *h = p->nr_classes ? p->classes[0].header : NULL;
	const char *type = h ? spec_cpu_type(h->cpu_type) : NULL;
	const char *slash = type ? strchr(type, '/') : NULL;
	CLEANUP(strbuf_fini) struct strbuf family = { 0 };

	strbuf_puts(&family, type ? type : "unknown");
	if (slash)
		strbuf_truncate(&family, (size_t)(slash - type));
	strbuf_puts(out, "<?xml version=\"1.0\" ?>\n<profile  schemaversion=\"3.1\"");
	add_attribute("cputype", strbuf_str(&family), out);
	strbuf_putc(out, '\n');
	if (slash) {
		add_attribute("processor", slash + 1, out);
		strbuf_putc(out, '\n');
	}
	if (highest_cpu(p))
		strbuf_printf(out, " separatedcpus=\"%" PRId64 "\"\n",
			      highest_cpu(p) + 1);
	strbuf_printf(out, " mhz=\"%.2f\"\n",
		      h && isfinite(h->cpu_mhz) && h->cpu_mhz > 0 ? h->cpu_mhz : 0.0);
	add_attribute("title", job->path, out);
	strbuf_puts(out, ">\n");
}

/* The value of a presenting tag of a path as spec_format() makes it. */
static void add_value(const char *path, enum spec_tag_id tag, struct strbuf *out)
{
	struct spec_word word;

	for (size_t len; *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (spec_word_parse(path, len, &word) && word.tag->id == tag &&
		    word.value)
			escape_decode(out, word.value, word.value_len);
	}
}

/* The selecting part of a path in the words of opreport. */
static void add_selection(const char *path, struct strbuf *out)
{
	struct spec_word word;
	size_t start = out->len;
	bool first = true;

	for (size_t len; *path; path += len + (path[len] == '/'), first = false) {
		bool known;

		len = strcspn(path, "/");
		known = spec_word_parse(path, len, &word);
		if ((known && spec_tag_presents(word.tag)) ||
		    (first && len == 7 && !strncmp(path, "current", len)))
			continue;
		if (out->len > start)
			strbuf_putc(out, ',');
		if (first && !known)
			strbuf_puts(out, "session:");
		escape_decode(out, path, len);
	}
}

/* The options of opreport that the path stands for, in OProfile's order. */
static void add_options(const struct report_job *job, struct strbuf *out)
{
	static const struct {
		const char *name;
		enum spec_tag_id tag; /* SPEC_NR_TAGS: what is selected */
		uint64_t word;        /* of with:, else 0 */
	} options[] = {
		{ "session", SPEC_NR_TAGS, 0 },
		{ "debuginfo", SPEC_WITH, OPTION_WITH(DEBUG_INFO) },
		{ "details", SPEC_WITH, OPTION_WITH(DETAILS) },
		{ "excludedependent", SPEC_WITH, OPTION_WITH(EXCLUDE_DEPENDENT) },
		{ "excludesymbols", SPEC_EXCLUDE_SYMBOLS, 0 },
		{ "imagepath", SPEC_IMAGE_PATH, 0 },
		{ "includesymbols", SPEC_INCLUDE_SYMBOLS, 0 },
		{ "merge", SPEC_MERGE, 0 },
	};
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	strbuf_puts(out, "<options ");
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		strbuf_truncate(&text, 0);
		if (options[i].tag == SPEC_NR_TAGS)
			add_selection(job->path, &text);
		else if (!options[i].word)
			add_value(job->path, options[i].tag, &text);
		else if (report_with(job, options[i].word))
			strbuf_puts(&text, "true");
		if (text.len)
			add_attribute(options[i].name, strbuf_str(&text), out);
	}
	strbuf_puts(out, "/>\n");
	out->failed = out->failed || text.failed;
}

void xml_head_write(const struct report_job *job, const struct xml_classes *k,
		    struct strbuf *out)
{
	add_profile(job, out);
	add_options(job, out);
	add_setup(k, out);
	if (k->told)
		add_classes(k, out);
}
