/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/spec/spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/number.h"
#include "base/suggest.h"
#include "libspec/name/pid.h"

const struct spec_tag spec_tags[SPEC_NR_TAGS] = {
#define TAG(id_, name_, kind_, doc_)                                                     \
	[SPEC_##id_] = { .name = name_, .kind = kind_, .id = SPEC_##id_, .doc = doc_ },
#include "libspec/spec/tag_list.h"
#undef TAG
};

const struct spec_tag *spec_tag_find(const char *name, size_t len)
{
	for (size_t i = 0; len && i < SPEC_NR_TAGS; i++)
		if (strlen(spec_tags[i].name) == len &&
		    !memcmp(spec_tags[i].name, name, len))
			return &spec_tags[i];
	return NULL;
}

bool spec_word_parse(const char *word, size_t len, struct spec_word *out)
{
	const char *colon = memchr(word, ':', len);
	size_t name_len = colon ? (size_t)(colon - word) : len;
	const struct spec_tag *tag = spec_tag_find(word, name_len);

	if (!tag)
		return false;
	*out = (struct spec_word){ .tag = tag, .colon = colon != NULL };
	if (colon && name_len + 1 < len) {
		out->value = colon + 1;
		out->value_len = len - name_len - 1;
	}
	return true;
}

/* ---- values */

bool spec_number(const char *text, bool any_base, uint64_t *out)
{
	const char *at = text;
	int base = 10;

	if (any_base && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
		at += 2;
		base = 16;
	} else if (any_base && at[0] == '0' && at[1]) {
		base = 8;
	}
	return number_parse(at, base, UINT64_MAX, out);
}

static bool parse_number(const struct spec_tag *tag, const char *text, uint64_t *out)
{
	if (tag->id == SPEC_TGID || tag->id == SPEC_TID)
		return spec_pid_parse(text, out);
	return spec_number(text, tag->id == SPEC_UNIT_MASK, out);
}

static int parse_numbers(const struct spec_tag *tag, struct spec_value *v,
			 struct err *err)
{
	v->numbers = calloc(v->items.nr + 1, sizeof(*v->numbers));
	if (!v->numbers)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < v->items.nr; i++) {
		const char *text = v->items.items[i].text;

		if (v->items.items[i].all)
			continue;
		if (!parse_number(tag, text, &v->numbers[v->nr_numbers]))
			return err_set(err, -EINVAL,
				       "%s:%s: \"%s\" is not a number (%s, a list of "
				       "such, or all)",
				       tag->name, v->raw, text,
				       tag->id == SPEC_UNIT_MASK ? "65, 0x41"
								 : "0, 1, 2 ...");
		v->nr_numbers++;
	}
	return 0;
}

/* ---- presenting values */

const struct spec_known_word spec_words[SPEC_NR_WORDS] = {
#define WORD(tag, id, name, doc) { SPEC_##tag, name, doc },
#include "libspec/spec/word_list.h"
#undef WORD
};

static int unknown_word(const struct spec_tag *tag, const char *text, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf known = { 0 };
	struct nearest near = { .typed = text };

	for (size_t i = 0; i < SPEC_NR_WORDS; i++)
		if (spec_words[i].tag == tag->id)
			nearest_offer(&near, spec_words[i].name);
	nearest_tell_all(&near, &known);
	strbuf_putc(&known, ':');
	for (size_t i = 0; i < SPEC_NR_WORDS; i++)
		if (spec_words[i].tag == tag->id)
			strbuf_printf(&known, " %s", spec_words[i].name);
	return err_set(err, -EINVAL, "%s:%.100s: unknown%s", tag->name, text,
		       strbuf_str(&known));
}

static int parse_words(const struct spec_tag *tag, struct spec_value *v, struct err *err)
{
	v->words = calloc(v->items.nr + 1, sizeof(*v->words));
	if (!v->words)
		return err_set(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < v->items.nr; i++) {
		size_t w = 0;

		while (w < SPEC_NR_WORDS &&
		       (spec_words[w].tag != tag->id ||
			strcmp(spec_words[w].name, v->items.items[i].text) != 0))
			w++;
		if (w == SPEC_NR_WORDS)
			return unknown_word(tag, v->items.items[i].text, err);
		v->words[v->nr_words++] = (enum spec_word_id)w;
	}
	if (!v->nr_words)
		return unknown_word(tag, "", err);
	return 0;
}

static int parse_percent(const struct spec_tag *tag, struct spec_value *v,
			 struct err *err)
{
	const char *digits = "0123456789";
	size_t len = strspn(v->text, digits);
	bool any = len > 0;

	if (v->text[len] == '.') {
		size_t behind = strspn(v->text + len + 1, digits);

		any |= behind > 0;
		len += 1 + behind;
	}
	v->percent = strtod(v->text, NULL);
	if (!any || (v->text[len] && strcmp(v->text + len, "%") != 0) || v->percent > 100)
		return err_set(err, -EINVAL,
			       "%s:%.100s: not a percentage from 0 to 100, as in "
			       "%s:0.5",
			       tag->name, v->raw, tag->name);
	return 0;
}

static int parse_some(const struct spec_tag *tag, struct spec_value *v, struct err *err)
{
	if (v->items.nr && *v->items.items[0].text)
		return 0;
	return err_set(err, -EINVAL, "%s: needs a value", tag->name);
}

static void frame_fini(struct spec_frame *f)
{
	spec_items_fini(&f->items);
	free(f->raw);
	free(f->text);
}

static int parse_frame(const char *raw, size_t len, struct spec_frame *f, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	f->raw = strndup(raw, len);
	if (!f->raw)
		return err_set(err, -ENOMEM, "out of memory");
	spec_decode(f->raw, &text);
	f->text = strbuf_take(&text);
	return f->text ? spec_items_parse(f->raw, &f->items, err)
		       : err_set(err, -ENOMEM, "out of memory");
}

static int parse_frames(struct spec_value *v, struct err *err)
{
	size_t max = 1;
	int rc = 0;

	for (const char *c = v->raw; *c; c++)
		max += *c == '/';
	v->frames = calloc(max, sizeof(*v->frames));
	if (!v->frames)
		return err_set(err, -ENOMEM, "out of memory");
	for (const char *at = v->raw; *at && !rc;) {
		size_t len = strcspn(at, "/");

		if (len)
			rc = parse_frame(at, len, &v->frames[v->nr_frames++], err);
		at += len + (at[len] == '/');
	}
	return rc;
}

static int parse_kind(const struct spec_tag *tag, struct spec_value *v, struct err *err)
{
	switch (tag->kind) {
	case SPEC_TAG_NUMBERS:
		return parse_numbers(tag, v, err);
	case SPEC_TAG_WORDS:
		return parse_words(tag, v, err);
	case SPEC_TAG_PERCENT:
		return parse_percent(tag, v, err);
	case SPEC_TAG_FRAMES:
		v->all = !strcmp(v->raw, "all");
		return parse_frames(v, err);
	case SPEC_TAG_PATTERNS:
	case SPEC_TAG_PATHS:
	case SPEC_TAG_TEXT:
		return parse_some(tag, v, err);
	default:
		return 0;
	}
}

int spec_value_new(const struct spec_tag *tag, const char *raw, bool exact,
		   struct spec_value **out, struct err *err)
{
	CLEANUP(spec_value_putp) struct spec_value *v = calloc(1, sizeof(*v));
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc;

	if (!v)
		return err_set(err, -ENOMEM, "out of memory");
	v->refs = 1;
	v->exact = exact;
	v->raw = strdup(raw);
	spec_decode(raw, &text);
	v->text = strbuf_take(&text);
	if (!v->raw || !v->text)
		return err_set(err, -ENOMEM, "out of memory");
	rc = spec_items_parse(raw, &v->items, err);
	if (rc)
		return err_add(err, rc, "%.100s%s%.100s", tag->name,
			       *tag->name ? ":" : "", raw);
	for (size_t i = 0; i < v->items.nr && !exact && !spec_tag_presents(tag); i++)
		v->all |= v->items.items[i].all;
	rc = parse_kind(tag, v, err);
	if (!rc)
		*out = TAKE(v);
	return rc;
}

struct spec_value *spec_value_get(struct spec_value *v)
{
	if (v)
		__atomic_add_fetch(&v->refs, 1, __ATOMIC_RELAXED);
	return v;
}

void spec_value_put(struct spec_value *v)
{
	if (!v || __atomic_sub_fetch(&v->refs, 1, __ATOMIC_ACQ_REL))
		return;
	spec_items_fini(&v->items);
	for (size_t i = 0; i < v->nr_frames; i++)
		frame_fini(&v->frames[i]);
	free(v->frames);
	free(v->numbers);
	free(v->words);
	free(v->text);
	free(v->raw);
	free(v);
}

/* ---- specifications */

static bool copy_sessions(struct spec *s, char *const *sessions, size_t nr)
{
	s->sessions = calloc(nr ? nr : 1, sizeof(*s->sessions));
	if (!s->sessions)
		return false;
	for (; s->nr_sessions < nr; s->nr_sessions++) {
		s->sessions[s->nr_sessions] = strdup(sessions[s->nr_sessions]);
		if (!s->sessions[s->nr_sessions])
			return false;
	}
	return true;
}

struct spec *spec_new(char *const *sessions, size_t nr)
{
	struct spec *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->refs = 1;
	if (!copy_sessions(s, sessions, nr)) {
		spec_put(s);
		return NULL;
	}
	return s;
}

struct spec *spec_with_sessions(const struct spec *s, char *const *sessions, size_t nr)
{
	struct spec *n = spec_new(sessions, nr);

	for (size_t i = 0; n && i < SPEC_NR_TAGS; i++)
		n->values[i] = spec_value_get(s->values[i]);
	return n;
}

struct spec *spec_with(const struct spec *s, const struct spec_tag *tag,
		       struct spec_value *value)
{
	struct spec *n = spec_with_sessions(s, s->sessions, s->nr_sessions);

	if (n && value) {
		spec_value_put(n->values[tag->id]);
		n->values[tag->id] = spec_value_get(value);
	}
	return n;
}

struct spec *spec_get(struct spec *s)
{
	if (s)
		__atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
	return s;
}

void spec_put(struct spec *s)
{
	if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		spec_value_put(s->values[i]);
	for (size_t i = 0; i < s->nr_sessions; i++)
		free(s->sessions[i]);
	free(s->sessions);
	free(s);
}

/* A value as a part of a component: only "/" has to be escaped, unless it separates. */
static void add_value(const struct spec_tag *tag, const struct spec_value *v,
		      struct strbuf *out)
{
	bool separates = tag->kind == SPEC_TAG_FRAMES;

	if (*tag->name)
		strbuf_printf(out, "%s:", tag->name);
	for (const char *c = v->raw; *c; c++) {
		if (*c == '/' && !separates)
			strbuf_puts(out, "%2F");
		else
			strbuf_putc(out, *c);
	}
}

void spec_format_value(const struct spec_tag *tag, const struct spec_value *v,
		       struct strbuf *out)
{
	strbuf_putc(out, '/');
	add_value(tag, v, out);
}

static void format_sessions(const struct spec *s, struct strbuf *out)
{
	if (s->nr_sessions != 1)
		strbuf_puts(out, "session:");
	for (size_t i = 0; i < s->nr_sessions; i++) {
		if (i)
			strbuf_putc(out, ',');
		spec_listed(s->sessions[i], false, s->sessions[i], out);
	}
}

const struct spec_tag *spec_span_tag(const struct spec *s)
{
	for (size_t i = 0; s && i < SPEC_NR_TAGS; i++)
		if (s->values[i] && spec_tags[i].kind == SPEC_TAG_SPAN)
			return &spec_tags[i];
	return NULL;
}

void spec_format(const struct spec *s, struct strbuf *out)
{
	const struct spec_tag *span = spec_span_tag(s);

	if (span)
		add_value(span, s->values[span->id], out);
	else
		format_sessions(s, out);
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (s->values[i] && &spec_tags[i] != span)
			spec_format_value(&spec_tags[i], s->values[i], out);
}
