/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/name/glob.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/fnv.h"
#include "base/utf8.h"
#include "base/vec.h"

enum { MAX_ITEMS = 1024 };

/* ---- matching */

static const struct {
	const char *name;
	int (*is)(int c);
} classes[] = {
	{ "alnum", isalnum }, { "alpha", isalpha }, { "blank", isblank },
	{ "cntrl", iscntrl }, { "digit", isdigit }, { "graph", isgraph },
	{ "lower", islower }, { "print", isprint }, { "punct", ispunct },
	{ "space", isspace }, { "upper", isupper }, { "xdigit", isxdigit },
};

/* [:NAME:] at @p: its length, 0 if it is none.  *hit is set if @c belongs to it. */
static size_t class_at(const char *p, unsigned char c, bool *hit)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		size_t len = strlen(classes[i].name);

		if (strncmp(p, "[:", 2) || strncmp(p + 2, classes[i].name, len) ||
		    strncmp(p + 2 + len, ":]", 2))
			continue;
		*hit |= classes[i].is(c) != 0;
		return len + 4;
	}
	return 0;
}

/* One byte of a bracket expression, "\" taken away; NULL at the end of the pattern. */
static const char *bracket_byte(const char *p, unsigned char *out)
{
	if (*p == '\\')
		p++;
	if (!*p)
		return NULL;
	*out = (unsigned char)*p;
	return p + 1;
}

/* @p is behind "[".  What follows "]", or NULL: no bracket expression after all. */
static const char *bracket(const char *p, unsigned char c, bool *matched)
{
	bool negate = *p == '!' || *p == '^';
	bool hit = false;

	p += negate;
	for (bool first = true; first || *p != ']'; first = false) {
		size_t skip = class_at(p, c, &hit);
		unsigned char lo, hi;

		if (skip) {
			p += skip;
			continue;
		}
		p = bracket_byte(p, &lo);
		if (!p)
			return NULL;
		hi = lo;
		if (p[0] == '-' && p[1] && p[1] != ']') {
			p = bracket_byte(p + 1, &hi);
			if (!p)
				return NULL;
		}
		hit |= lo <= c && c <= hi;
	}
	*matched = hit != negate;
	return p + 1;
}

/* Matches one byte against what is at *pp, no "*"; moves *pp behind it. */
static bool match_one(const char **pp, unsigned char c)
{
	const char *p = *pp, *after;
	bool matched;

	switch (*p) {
	case '\0':
		return false;
	case '?':
		*pp = p + 1;
		return true;
	case '[':
		after = bracket(p + 1, c, &matched);
		if (after) {
			*pp = after;
			return matched;
		}
		break;
	case '\\':
		if (!p[1])
			return false;
		p++;
		break;
	default:
		break;
	}
	*pp = p + 1;
	return (unsigned char)*p == c;
}

/* Only the last star needs to be tried again: it can take what earlier ones could. */
bool spec_glob_n(const char *pattern, const char *name, size_t len)
{
	const char *end = name + len;
	const char *star = NULL, *star_name = NULL;

	while (name < end) {
		if (*pattern == '*') {
			star = ++pattern;
			star_name = name;
			continue;
		}
		if (match_one(&pattern, (unsigned char)*name)) {
			name++;
			continue;
		}
		if (!star)
			return false;
		pattern = star;
		name = ++star_name;
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

bool spec_glob(const char *pattern, const char *name)
{
	return spec_glob_n(pattern, name, strlen(name));
}

/* ---- lists */

struct item_parser {
	struct strbuf text, pattern;
	bool glob;
	bool escaped; /* something in it was, so it is no word all */
	bool any;
};

static void add_literal(struct item_parser *p, char c)
{
	strbuf_putc(&p->text, c);
	if (strchr("*?[]\\-!^", c))
		strbuf_putc(&p->pattern, '\\');
	strbuf_putc(&p->pattern, c);
	p->escaped = p->any = true;
}

static void add_typed(struct item_parser *p, char c)
{
	strbuf_putc(&p->text, c);
	strbuf_putc(&p->pattern, c);
	p->glob |= c == '*' || c == '?' || c == '[';
	p->any = true;
}

static void add_backslash(struct item_parser *p, char next)
{
	strbuf_putc(&p->text, '\\');
	strbuf_putc(&p->text, next);
	strbuf_putc(&p->pattern, '\\');
	strbuf_putc(&p->pattern, next);
	p->glob = p->escaped = p->any = true; /* only the pattern tells what it means */
}

static int finish_item(struct item_parser *p, struct spec_items *out, size_t *cap,
		       struct err *err)
{
	struct spec_item item = { .glob = p->glob };

	if (out->nr >= MAX_ITEMS)
		return err_set(err, -E2BIG, "a list of more than %d items", MAX_ITEMS);
	item.all = !p->escaped && !strcmp(strbuf_str(&p->text), "all");
	item.text = strbuf_take(&p->text);
	item.pattern = strbuf_take(&p->pattern);
	if (!item.text || !item.pattern ||
	    vec_reserve_((void **)&out->items, cap, out->nr, 1, sizeof(item))) {
		free(item.text);
		free(item.pattern);
		return err_set(err, -ENOMEM, "out of memory");
	}
	out->items[out->nr++] = item;
	p->glob = p->escaped = p->any = false;
	return 0;
}

static void item_parser_fini(struct item_parser *p)
{
	strbuf_fini(&p->text);
	strbuf_fini(&p->pattern);
}

static int parse(const char *raw, struct spec_items *out, struct err *err)
{
	CLEANUP(item_parser_fini) struct item_parser p = { 0 };
	size_t cap = 0, len = strlen(raw);

	for (size_t i = 0; i < len; i++) {
		int byte = escape_byte(raw + i, len - i);

		out->open = false;
		if (byte == 0)
			return err_set(err, -EINVAL, "%%00 cannot be part of a name");
		if (byte > 0) {
			add_literal(&p, (char)byte);
			i += 2;
		} else if (raw[i] == ',') {
			int rc = finish_item(&p, out, &cap, err);

			if (rc)
				return rc;
			out->open = true;
		} else if (raw[i] == '\\' && raw[i + 1] == ',') {
			add_literal(&p, raw[++i]);
		} else if (raw[i] == '\\' && raw[i + 1] && raw[i + 1] != '%') {
			add_backslash(&p, raw[++i]);
		} else if (raw[i] == '\\') {
			add_literal(&p, '\\');
		} else {
			add_typed(&p, raw[i]);
		}
	}
	return p.any ? finish_item(&p, out, &cap, err) : 0;
}

int spec_items_parse(const char *raw, struct spec_items *out, struct err *err)
{
	CLEANUP(spec_items_fini) struct spec_items l = { 0 };
	int rc = parse(raw, &l, err);

	if (!rc)
		*out = TAKE(l);
	return rc;
}

void spec_items_fini(struct spec_items *l)
{
	for (size_t i = 0; i < l->nr; i++) {
		free(l->items[i].text);
		free(l->items[i].pattern);
	}
	free(l->items);
	*l = (struct spec_items){ 0 };
}

void spec_decode(const char *raw, struct strbuf *out)
{
	escape_decode(out, raw, strlen(raw));
}

/* ---- listed names */

static bool listed_plain(unsigned char c)
{
	return c >= 0x20 && c != 0x7f && !strchr("/,*?[\\%", c);
}

/* C1 controls, which are two bytes long in UTF-8. */
static bool is_c1(const unsigned char *s, size_t len)
{
	return len == 2 && s[0] == 0xc2 && s[1] < 0xa0;
}

static bool is_reserved(const char *name)
{
	return !strcmp(name, "all") || !strcmp(name, ".") || !strcmp(name, "..");
}

/* Appends at most @max bytes, never a part of a character; false if there was more. */
static bool add_listed(const char *name, size_t max, struct strbuf *out)
{
	const unsigned char *s = (const unsigned char *)name;
	size_t left = strlen(name), start = out->len;
	bool reserved = is_reserved(name);

	for (size_t i = 0; left;) {
		size_t len = utf8_len(s + i, left);
		bool plain =
			len && !is_c1(s + i, len) && (len > 1 || listed_plain(s[i])) &&
			!(i == 0 && s[i] == '-') && !(reserved && (i == 0 || *s == '.'));
		size_t need = plain ? len : 3;

		if (out->len - start + need > max)
			return false;
		if (plain)
			strbuf_add(out, s + i, len);
		else
			escape_put(out, s[i]);
		i += plain ? len : 1;
		left -= plain ? len : 1;
	}
	return true;
}

void spec_escape(const char *name, struct strbuf *out)
{
	add_listed(name, SIZE_MAX, out);
}

void spec_hash8(const char *s, char out[9])
{
	uint64_t h = FNV_START;

	for (; *s; s++)
		h = fnv_add(h, (unsigned char)*s);
	snprintf(out, 9, "%08x", (unsigned)(h ^ (h >> 32)));
}

void spec_listed(const char *name, bool ambiguous, const char *id, struct strbuf *out)
{
	size_t start = out->len;
	char hash[9];

	if (!ambiguous && add_listed(name, SPEC_LISTED_MAX, out))
		return;
	strbuf_truncate(out, start);
	add_listed(name, SPEC_LISTED_MAX - 9, out);
	spec_hash8(id, hash);
	strbuf_printf(out, "~%s", hash);
}

bool spec_listed_cut(const char *raw)
{
	size_t len = strlen(raw);

	return len >= 9 && raw[len - 9] == '~' &&
	       strspn(raw + len - 8, "0123456789abcdef") == 8;
}
