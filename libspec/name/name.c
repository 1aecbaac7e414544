/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/name/name.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"

enum { MAX_COMPONENT = 255, NR_FIELDS = 6 };

/* A piece of the path that is taken apart; not NUL-terminated. */
struct word {
	const char *s;
	size_t len;
};

struct parser {
	const char *path; /* all of it, for messages */
	const char *at;   /* what is left of the directories */
	const char *end;
	bool escaped;
	struct err *err;
};

static bool word_is(struct word w, const char *text)
{
	return w.len == strlen(text) && !memcmp(w.s, text, w.len);
}

static bool word_starts(struct word w, const char *text)
{
	size_t len = strlen(text);

	return w.len >= len && !memcmp(w.s, text, len);
}

/* The next component without its slashes; an empty one at the end. */
static struct word peek(struct parser *p)
{
	const char *end;

	while (p->at < p->end && *p->at == '/')
		p->at++;
	end = memchr(p->at, '/', (size_t)(p->end - p->at));
	return (struct word){ p->at, (size_t)((end ? end : p->end) - p->at) };
}

static void skip(struct parser *p, struct word w)
{
	p->at = w.s + w.len;
}

/* Hostile names can be long; a message shows where they start. */
static int bad(const struct parser *p, const char *why)
{
	return err_set(p->err, -EINVAL, "%.200s%s: not the name of a sample file: %s",
		       p->path, strlen(p->path) > 200 ? "..." : "", why);
}

void spec_image_fini(struct spec_image *img)
{
	free(img->name);
	*img = (struct spec_image){ 0 };
}

int spec_image_copy(struct spec_image *to, const struct spec_image *from, struct err *err)
{
	struct spec_image copy = *from;

	if (from->name) {
		copy.name = strdup(from->name);
		if (!copy.name)
			return err_errno(err, -ENOMEM, "%s", from->name);
	}
	*to = copy;
	return 0;
}

bool spec_image_equal(const struct spec_image *a, const struct spec_image *b)
{
	if (a->kind != b->kind)
		return false;
	if (a->kind == SPEC_IMAGE_NONE)
		return true;
	if (strcmp(a->name, b->name) != 0)
		return false;
	return a->kind != SPEC_IMAGE_ANON ||
	       (a->tgid == b->tgid && a->start == b->start && a->end == b->end);
}

void spec_image_show(const struct spec_image *img, struct strbuf *out)
{
	switch (img->kind) {
	case SPEC_IMAGE_NONE:
		break;
	case SPEC_IMAGE_KERN:
		strbuf_putc(out, '/');
		strbuf_puts(out, img->name);
		break;
	case SPEC_IMAGE_ROOT:
		strbuf_puts(out, img->name);
		break;
	case SPEC_IMAGE_ANON:
		strbuf_printf(out,
			      "%s (tgid:%" PRIu32 " range:0x%" PRIx64 "-0x%" PRIx64 ")",
			      img->name, img->tgid, img->start, img->end);
		break;
	}
}

void spec_name_fini(struct spec_name *n)
{
	spec_image_fini(&n->app);
	spec_image_fini(&n->image);
	spec_image_fini(&n->callee);
	free(n->event);
	*n = (struct spec_name){ 0 };
}

static bool event_plain(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

void spec_event_escape(const char *event, struct strbuf *out)
{
	escape_add(out, event, strlen(event), event_plain);
}

void spec_event_unescape(const char *s, size_t len, struct strbuf *out)
{
	for (size_t i = 0; i < len; i++) {
		int byte = escape_byte(s + i, len - i);

		strbuf_putc(out, byte > 0 ? (char)byte : s[i]);
		if (byte > 0)
			i += 2;
	}
}

/* True for "{..." and for what an escape made of it: (%25)*%7B... */
static bool is_escaped_brace(struct word w)
{
	while (word_starts(w, "%25"))
		w = (struct word){ w.s + 3, w.len - 3 };
	return word_starts(w, "%7B");
}

/* Appends a component of a path as the binary's path has it. */
static void add_component(const struct parser *p, struct word w, struct strbuf *out)
{
	if (p->escaped && is_escaped_brace(w)) {
		if (w.s[1] == '7')
			strbuf_putc(out, '{');
		w = (struct word){ w.s + 3, w.len - 3 };
	}
	strbuf_add(out, w.s, w.len);
}

/* Decimal digits only, at least one. */
static bool parse_decimal(struct word w, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < w.len; i++) {
		if (w.s[i] < '0' || w.s[i] > '9' || __builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(w.s[i] - '0'), &n))
			return false;
	}
	*out = n;
	return w.len && n <= max;
}

/* 0x and at most 16 hexadecimal digits. */
static bool parse_hex(struct word w, uint64_t *out)
{
	uint64_t n = 0;

	if (!word_starts(w, "0x") || w.len < 3 || w.len > 18)
		return false;
	for (size_t i = 2; i < w.len; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *d = memchr(digits, w.s[i], sizeof(digits) - 1);

		if (!d)
			return false;
		n = n << 4 | ((uint64_t)(d - digits) & 15);
	}
	*out = n;
	return true;
}

/* Cuts a word at its dots; how many pieces there are, at most @max + 1. */
static size_t split_dots(struct word w, struct word *out, size_t max)
{
	size_t nr = 0;

	for (;;) {
		const char *dot = memchr(w.s, '.', w.len);

		if (nr == max)
			return max + 1;
		out[nr++] = (struct word){ w.s, dot ? (size_t)(dot - w.s) : w.len };
		if (!dot)
			return nr;
		w.len -= (size_t)(dot + 1 - w.s);
		w.s = dot + 1;
	}
}

/* The path behind {root} or {kern}, up to @stop or the end. */
static int parse_path(struct parser *p, const char *stop, bool rooted, char **out)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };

	for (;;) {
		struct word w = peek(p);

		if (!w.len || (stop && word_is(w, stop)))
			break;
		if (word_is(w, ".") || word_is(w, ".."))
			return bad(p, "a component is \".\" or \"..\"");
		if (rooted || name.len)
			strbuf_putc(&name, '/');
		add_component(p, w, &name);
		skip(p, w);
	}
	if (!name.len)
		return bad(p, "no image after {root} or {kern}");
	*out = strbuf_take(&name);
	return *out ? 0 : err_errno(p->err, -ENOMEM, "%.200s", p->path);
}

/* {anon:LABEL}/TGID.LO.HI; @w is the first of the two components. */
static int parse_anon(struct parser *p, struct word w, struct spec_image *out)
{
	CLEANUP(strbuf_fini) struct strbuf label = { 0 };
	struct word part[3];
	uint64_t tgid;

	w = (struct word){ w.s + strlen("{anon:"), w.len - strlen("{anon:}") };
	if (p->escaped)
		spec_event_unescape(w.s, w.len, &label);
	else
		strbuf_add(&label, w.s, w.len);
	w = peek(p);
	if (split_dots(w, part, 3) != 3 || !parse_decimal(part[0], UINT32_MAX, &tgid) ||
	    !parse_hex(part[1], &out->start) || !parse_hex(part[2], &out->end) ||
	    out->start > out->end)
		return bad(p, "{anon:...} without TGID.0xSTART.0xEND behind it");
	skip(p, w);
	out->tgid = (uint32_t)tgid;
	out->name = strbuf_take(&label);
	return out->name ? 0 : err_errno(p->err, -ENOMEM, "%.200s", p->path);
}

static int parse_image(struct parser *p, const char *stop, struct spec_image *out)
{
	struct word w = peek(p);

	skip(p, w);
	if (word_is(w, "{root}")) {
		out->kind = SPEC_IMAGE_ROOT;
		return parse_path(p, stop, true, &out->name);
	}
	if (word_is(w, "{kern}")) {
		out->kind = SPEC_IMAGE_KERN;
		return parse_path(p, stop, false, &out->name);
	}
	if (word_starts(w, "{anon:") && w.s[w.len - 1] == '}') {
		out->kind = SPEC_IMAGE_ANON;
		return parse_anon(p, w, out);
	}
	return bad(p, "no {root}, {kern} or {anon:...} where an image must follow");
}

int spec_image_parse(const char *text, struct spec_image *out, struct err *err)
{
	CLEANUP(spec_image_fini) struct spec_image img = { 0 };
	struct parser p = { .path = text,
			    .at = text,
			    .end = text + strlen(text),
			    .escaped = true,
			    .err = err };
	int rc;

	if (strlen(text) >= PATH_MAX)
		return bad(&p, "it is too long");
	rc = parse_image(&p, NULL, &img);
	if (!rc && peek(&p).len)
		rc = bad(&p, "too much after an image");
	if (!rc)
		*out = TAKE(img);
	return rc;
}

/* A number, or the word all. */
static bool parse_id(struct word w, int64_t *out)
{
	uint64_t n = 0;

	if (word_is(w, "all")) {
		*out = SPEC_ALL;
		return true;
	}
	if (!parse_decimal(w, UINT32_MAX, &n))
		return false;
	*out = (int64_t)n;
	return true;
}

/* EVENT.COUNT.UMASK.TGID.TID.CPU */
static int parse_fields(struct parser *p, struct word spec, struct spec_name *out)
{
	CLEANUP(strbuf_fini) struct strbuf event = { 0 };
	struct word f[NR_FIELDS];

	if (split_dots(spec, f, NR_FIELDS) != NR_FIELDS)
		return bad(p, "not EVENT.COUNT.UNITMASK.TGID.TID.CPU at its end");
	if (!f[0].len)
		return bad(p, "no event");
	if (!parse_decimal(f[1], UINT64_MAX, &out->count))
		return bad(p, "the count is no number");
	if (!parse_decimal(f[2], UINT64_MAX, &out->unit_mask))
		return bad(p, "the unit mask is no number");
	if (!parse_id(f[3], &out->tgid) || !parse_id(f[4], &out->tid) ||
	    !parse_id(f[5], &out->cpu))
		return bad(p, "a process, thread or CPU is neither a number nor \"all\"");
	if (p->escaped)
		spec_event_unescape(f[0].s, f[0].len, &event);
	else
		strbuf_add(&event, f[0].s, f[0].len);
	out->event = strbuf_take(&event);
	return out->event ? 0 : err_errno(p->err, -ENOMEM, "%.200s", p->path);
}

/* Skips what precedes the first {root} or {kern}. */
static int skip_base(struct parser *p)
{
	for (;;) {
		struct word w = peek(p);

		if (!w.len)
			return bad(p, "neither {root} nor {kern} in it");
		if (word_is(w, "{root}") || word_is(w, "{kern}"))
			return 0;
		if (word_is(w, "{anon}"))
			return bad(p, "an application must be {root} or {kern}");
		skip(p, w);
	}
}

static int parse_callee(struct parser *p, struct spec_image *out)
{
	int rc;

	skip(p, peek(p));
	rc = parse_image(p, NULL, out);
	if (!rc && out->kind == SPEC_IMAGE_ROOT && !strcmp(out->name, "/no-vmlinux")) {
		out->kind = SPEC_IMAGE_KERN;
		memmove(out->name, out->name + 1, strlen(out->name));
	}
	return rc;
}

static int parse_images(struct parser *p, struct spec_name *out)
{
	int rc = skip_base(p);

	if (!rc)
		rc = parse_image(p, "{dep}", &out->app);
	if (rc)
		return rc;
	if (!word_is(peek(p), "{dep}"))
		return bad(p, "no {dep} in it");
	skip(p, peek(p));
	rc = parse_image(p, "{cg}", &out->image);
	if (!rc && word_is(peek(p), "{cg}"))
		rc = parse_callee(p, &out->callee);
	if (!rc && peek(p).len)
		rc = bad(p, "too much after an image");
	return rc;
}

int spec_name_parse(const char *path, bool escaped, struct spec_name *out,
		    struct err *err)
{
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };
	const char *slash = strrchr(path, '/');
	const char *leaf = slash ? slash + 1 : path;
	struct parser p = {
		.path = path, .at = path, .end = leaf, .escaped = escaped, .err = err
	};
	int rc;

	if (strlen(path) >= PATH_MAX)
		return bad(&p, "it is too long");
	rc = parse_images(&p, &n);
	if (!rc)
		rc = parse_fields(&p, (struct word){ leaf, strlen(leaf) }, &n);
	if (!rc)
		*out = TAKE(n);
	return rc;
}

/* Appends one component behind a slash, escaped if it could be taken for a marker. */
static int format_component(struct word w, struct strbuf *out, struct err *err)
{
	size_t start = out->len;

	if (!w.len || word_is(w, ".") || word_is(w, ".."))
		return err_set(err, -EINVAL,
			       "an image's path has an empty component, \".\" or \"..\"");
	strbuf_putc(out, '/');
	if (w.s[0] == '{') {
		strbuf_puts(out, "%7B");
		w = (struct word){ w.s + 1, w.len - 1 };
	} else if (is_escaped_brace(w)) {
		strbuf_puts(out, "%25");
	}
	strbuf_add(out, w.s, w.len);
	if (out->len - start - 1 > MAX_COMPONENT)
		return err_set(err, -ENAMETOOLONG,
			       "%.60s...: longer than a file's name may be (%d bytes)",
			       w.s, MAX_COMPONENT);
	return 0;
}

/* The components of @path, which has no slash at its start. */
static int format_path(const char *path, struct strbuf *out, struct err *err)
{
	for (;;) {
		size_t len = strcspn(path, "/");
		int rc = format_component((struct word){ path, len }, out, err);

		if (rc || !path[len])
			return rc;
		path += len + 1;
	}
}

static bool label_plain(unsigned char c)
{
	return c >= ' ' && c != '/' && c != '%' && c != 0x7f;
}

static int format_image(const struct spec_image *img, bool may_be_anon,
			struct strbuf *out, struct err *err)
{
	size_t start = out->len;

	if (img->kind == SPEC_IMAGE_ROOT && img->name[0] == '/') {
		strbuf_puts(out, "{root}");
		return format_path(img->name + 1, out, err);
	}
	if (img->kind == SPEC_IMAGE_KERN) {
		strbuf_puts(out, "{kern}");
		return format_path(img->name, out, err);
	}
	if (img->kind != SPEC_IMAGE_ANON || !may_be_anon || img->start > img->end)
		return err_set(err, -EINVAL,
			       "%s: not an image that a file can be named after",
			       img->name ? img->name : "(none)");
	strbuf_puts(out, "{anon:");
	escape_add(out, img->name, strlen(img->name), label_plain);
	strbuf_putc(out, '}');
	if (out->len - start > MAX_COMPONENT)
		return err_set(err, -ENAMETOOLONG, "%.60s...: label too long", img->name);
	strbuf_printf(out, "/%" PRIu32 ".0x%" PRIx64 ".0x%" PRIx64, img->tgid, img->start,
		      img->end);
	return 0;
}

int spec_image_format(const struct spec_image *img, struct strbuf *out, struct err *err)
{
	size_t start = out->len;
	int rc = format_image(img, true, out, err);

	if (!rc && out->len - start >= PATH_MAX)
		rc = err_set(err, -ENAMETOOLONG, "%.60s...: the path is too long",
			     img->name);
	if (!rc && strbuf_error(out))
		rc = err_errno(err, -ENOMEM, "name of an image");
	if (rc)
		strbuf_truncate(out, start);
	return rc;
}

static void format_id(int64_t id, struct strbuf *out)
{
	if (id == SPEC_ALL)
		strbuf_puts(out, ".all");
	else
		strbuf_printf(out, ".%" PRId64, id);
}

static int format_fields(const struct spec_name *n, struct strbuf *out, struct err *err)
{
	size_t start = out->len;

	if (!n->event || !*n->event)
		return err_set(err, -EINVAL, "no event to name a sample file after");
	spec_event_escape(n->event, out);
	strbuf_printf(out, ".%" PRIu64 ".%" PRIu64, n->count, n->unit_mask);
	format_id(n->tgid, out);
	format_id(n->tid, out);
	format_id(n->cpu, out);
	if (out->len - start > MAX_COMPONENT)
		return err_set(err, -ENAMETOOLONG,
			       "%.60s...: the event's name is too long", n->event);
	return 0;
}

static int format_all(const struct spec_name *n, struct strbuf *out, struct err *err)
{
	int rc = format_image(&n->app, false, out, err);

	strbuf_puts(out, "/{dep}/");
	if (!rc)
		rc = format_image(&n->image, true, out, err);
	strbuf_putc(out, '/');
	if (!rc && n->callee.kind != SPEC_IMAGE_NONE) {
		strbuf_puts(out, "{cg}/");
		rc = format_image(&n->callee, true, out, err);
		strbuf_putc(out, '/');
	}
	return rc ? rc : format_fields(n, out, err);
}

int spec_name_format(const struct spec_name *n, struct strbuf *out, struct err *err)
{
	size_t start = out->len;
	int rc = format_all(n, out, err);

	if (!rc && out->len - start >= PATH_MAX)
		rc = err_set(err, -ENAMETOOLONG,
			     "%.60s...: the paths of its images are too long",
			     n->image.name);
	if (!rc && strbuf_error(out))
		rc = err_errno(err, -ENOMEM, "name of a sample file");
	if (rc)
		strbuf_truncate(out, start);
	return rc;
}
