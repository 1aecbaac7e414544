/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: events base */
/*
 * A table of arbitrary text: "events", a line "%", "unit_masks", a line "%", and a
 * specification.  What parses must be whole, what does not must say where and why.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "events/describe.h"
#include "events/event_spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct parts {
	const uint8_t *at[3];
	size_t len[3];
};

static struct parts split(const uint8_t *data, size_t size)
{
	struct parts p = { 0 };
	size_t n = 0, start = 0;

	for (size_t i = 0; i + 2 < size && n < 2; i++)
		if (!memcmp(data + i, "\n%\n", 3)) {
			p.at[n] = data + start;
			p.len[n++] = i + 1 - start;
			start = i + 3;
		}
	p.at[n] = data + start;
	p.len[n] = size > start ? size - start : 0;
	return p;
}

static int read_part(void *ctx, const char *path, struct strbuf *text,
		     struct strbuf *name, struct err *err)
{
	const struct parts *p = ctx;
	bool masks = strstr(path, "/unit_masks");

	(void)err;
	strbuf_puts(name, path);
	if (!strncmp(path, "i386/fuzz/", 10)) {
		if (masks && !p->at[1])
			return -ENOENT;
		strbuf_add(text, p->at[masks], p->len[masks]);
	} else if (!strncmp(path, "a/b/", 4)) {
		strbuf_puts(text, masks ? "name:ab type:mandatory default:1\n\t1 one\n"
					: "event:1 um:ab minimum:7 name:AB : ab\n");
	} else {
		return -ENOENT;
	}
	return 0;
}

static void check_refusal(const struct err *err)
{
	const char *colon = strchr(err->msg, ':');

	if (!*err->msg || strchr(err->msg, '\n') || !colon || !colon[1])
		abort();
	if (strncmp(err->msg, "i386/fuzz/", 10) != 0 && strncmp(err->msg, "a/b/", 4) != 0)
		abort();
}

/* Every mask can be asked for by its number and, if it has one, its name. */
static void check_mask(const struct ev_tables *in, const struct ev_def *d,
		       const struct ev_mask *m)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct ev_spec s;
	struct err err;

	strbuf_printf(&text, "%s::0x%x", d->name, ev_mask_number(m));
	if (strlen(strbuf_str(&text)) >= 200)
		return;
	if (ev_spec_parse_in(in, text.data, &s, &err) || s.event.def != d ||
	    s.unit_mask != ev_mask_number(m))
		abort();
	if (!m->name)
		return;
	strbuf_reset(&text);
	strbuf_printf(&text, "%s::%s", d->name, m->name);
	if (strlen(strbuf_str(&text)) < 200 &&
	    ev_spec_parse_in(in, text.data, &s, &err) == 0 && s.mask != m &&
	    strcmp(m->name, "sys") && strcmp(m->name, "kernel") &&
	    strcmp(m->name, "user"))
		abort();
}

static void check_def(const struct ev_tables *in, const struct ev_def *d)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const struct ev_mask *m = NULL;
	struct ev_attr attr;
	uint32_t number = d->masks ? ev_masks_default(d->masks, &m) : 0;

	if (!d->name || !*d->doc || !d->minimum ||
	    ev_table_find(in->all[0], d->name) != d)
		abort();
	if (d->masks && !m && !ev_masks_sum(d->masks, number))
		abort();
	ev_encode(in->all[0], d, m, number, &attr);
	ev_describe(in->all[0], d, &text);
	for (size_t i = 0; d->masks && i < d->masks->all.len; i++)
		check_mask(in, d, &d->masks->all.data[i]);
}

static void ask(const struct ev_tables *in, const struct parts *p)
{
	CLEANUP(free_ptr) char *text = strndup((const char *)p->at[2], p->len[2]);
	struct err err = { 0 };
	struct ev_spec s;

	if (!text)
		return;
	if (!ev_spec_parse_in(in, text, &s, &err)) {
		struct ev_attr a;

		ev_spec_encode(&s, &a);
		if (!s.kernel && !s.user)
			abort();
		if (s.event.def && s.count && s.count < s.event.def->minimum)
			abort();
	} else if (!*err.msg) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parts p = split(data, size);
	struct ev_source from = { read_part, &p };
	struct ev_tables in = { .nr = 1 };
	struct ev_table *t = NULL;
	struct err err = { 0 };

	if (size > 1 << 16)
		return 0;
	if (ev_table_load(&from, "i386/fuzz", &t, &err)) {
		check_refusal(&err);
		return 0;
	}
	in.all[0] = t;
	vec_for(&t->defs, d)
		check_def(&in, d);
	if (p.at[2])
		ask(&in, &p);
	ev_table_free(t);
	return 0;
}
