/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/manifest.h"

#include <errno.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/vec.h"
#include "libspec/clock.h"

/* The text of a MANIFEST, both ways.  What is below a directory: manifest_dir.c. */
#define MAX_MANIFEST ((size_t)1 << 28)

enum { HEX = 2 * SPEC_SUM_BYTES };

static const char header[] = "# opfs manifest 1\n", sum_key[] = "# sum ";

/* ---- writing */

static void add_hex(struct strbuf *out, const uint8_t *sum)
{
	for (int i = 0; i < SPEC_SUM_BYTES; i++)
		strbuf_printf(out, "%02x", sum[i]);
}

/* sha256sum escapes these in names, and says so with a backslash before the line. */
static const char *escaped(char c)
{
	return c == '\\' ? "\\\\" : c == '\n' ? "\\n" : c == '\r' ? "\\r" : NULL;
}

void spec_manifest_begin(struct strbuf *out)
{
	strbuf_puts(out, header);
}

void spec_manifest_line(struct strbuf *out, const uint8_t sum[SPEC_SUM_BYTES],
			const char *path)
{
	if (strpbrk(path, "\\\n\r"))
		strbuf_putc(out, '\\');
	add_hex(out, sum);
	strbuf_puts(out, "  ");
	for (; *path; path++) {
		if (escaped(*path))
			strbuf_puts(out, escaped(*path));
		else
			strbuf_putc(out, *path);
	}
	strbuf_putc(out, '\n');
}

static void sum_text(const char *text, size_t len, uint8_t sum[SPEC_SUM_BYTES])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, (const uint8_t *)text);
	sha256_digest(&ctx, SPEC_SUM_BYTES, sum);
}

void spec_manifest_end(struct strbuf *out)
{
	uint8_t sum[SPEC_SUM_BYTES];

	sum_text(strbuf_str(out), out->len, sum);
	strbuf_puts(out, sum_key);
	add_hex(out, sum);
	strbuf_putc(out, '\n');
}

size_t spec_manifest_line_len(const char *path)
{
	size_t len = HEX + strlen("  \n") + (strpbrk(path, "\\\n\r") != NULL);

	for (; *path; path++)
		len += escaped(*path) ? 2 : 1;
	return len;
}

size_t spec_manifest_frame_len(void)
{
	return strlen(header) + strlen(sum_key) + HEX + 1;
}

/* ---- reading */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_sum(const char *s, size_t len, uint8_t *sum)
{
	if (len < HEX)
		return false;
	for (size_t i = 0; i < SPEC_SUM_BYTES; i++) {
		int high = digit(s[2 * i]), low = digit(s[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		sum[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* A name as it was before sha256sum escaped it; NULL if it never was. */
static char *unescape(const char *s, size_t len, bool is_escaped)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	for (size_t i = 0; i < len; i++) {
		char c = s[i];

		if (is_escaped && c == '\\') {
			c = ++i < len ? s[i] : '\0';
			c = c == 'n' ? '\n' : c == 'r' ? '\r' : c == '\\' ? c : '\0';
		}
		if (!c)
			return NULL;
		strbuf_putc(&out, c);
	}
	return len ? strbuf_take(&out) : NULL;
}

/* SHA-256, two blanks, path. */
static int parse_file(const char *s, size_t len, struct spec_manifest *m)
{
	bool is_escaped = len && *s == '\\';
	struct spec_manifest_file f = { 0 };

	s += is_escaped;
	len -= is_escaped;
	if (!parse_sum(s, len, f.sum) || len < HEX + 2 || memcmp(s + HEX, "  ", 2) != 0)
		return -EBADMSG;
	f.path = unescape(s + HEX + 2, len - HEX - 2, is_escaped);
	if (!f.path)
		return -EBADMSG;
	if (vec_reserve_((void **)&m->files, &m->cap_files, m->nr_files, 1, sizeof(f))) {
		free(f.path);
		return -ENOMEM;
	}
	m->files[m->nr_files++] = f;
	return 0;
}

/* "# KEY VALUE" */
static int parse_fact(const char *s, size_t len, struct spec_manifest *m)
{
	CLEANUP(strbuf_fini) struct strbuf value = { 0 };
	struct spec_manifest_fact f;
	const char *blank;

	if (len < 2 || s[1] != ' ')
		return -EBADMSG;
	s += 2;
	len -= 2;
	blank = memchr(s, ' ', len);
	if (!blank || blank == s)
		return -EBADMSG;
	escape_decode(&value, blank + 1, len - (size_t)(blank + 1 - s));
	if (vec_reserve_((void **)&m->facts, &m->cap_facts, m->nr_facts, 1, sizeof(f)))
		return -ENOMEM;
	f.key = strndup(s, (size_t)(blank - s));
	f.value = strbuf_take(&value);
	m->facts[m->nr_facts++] = f;
	return f.key && f.value ? 0 : -ENOMEM;
}

/* The length of all lines before the last, which has their sum; -EBADMSG. */
static ssize_t summed_len(const char *text, size_t len)
{
	const size_t last = strlen(sum_key) + HEX + 1;
	uint8_t told[SPEC_SUM_BYTES], sum[SPEC_SUM_BYTES];
	const char *end;

	if (len < strlen(header) + last || memcmp(text, header, strlen(header)) != 0)
		return -EBADMSG;
	end = text + len - last;
	if (end[-1] != '\n' || memcmp(end, sum_key, strlen(sum_key)) != 0 ||
	    text[len - 1] != '\n' || !parse_sum(end + strlen(sum_key), HEX, told))
		return -EBADMSG;
	sum_text(text, len - last, sum);
	return memcmp(sum, told, sizeof(sum)) != 0 ? -EBADMSG : (ssize_t)(len - last);
}

static int parse_lines(const char *text, size_t len, struct spec_manifest *m)
{
	const char *end = text + len;
	int rc = 0;

	for (const char *at = text + strlen(header); at < end && !rc;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t line;

		if (!newline)
			return -EBADMSG;
		line = (size_t)(newline - at);
		rc = *at == '#' ? parse_fact(at, line, m) : parse_file(at, line, m);
		at = newline + 1;
	}
	return rc;
}

static void manifest_finip(struct spec_manifest *m)
{
	spec_manifest_fini(m);
}

int spec_manifest_parse(const char *text, size_t len, struct spec_manifest *out,
			struct err *err)
{
	CLEANUP(manifest_finip) struct spec_manifest m = { 0 };
	ssize_t summed = summed_len(text, len);
	int rc = summed < 0 ? (int)summed : parse_lines(text, (size_t)summed, &m);

	if (rc == -EBADMSG)
		return err_set(err, rc,
			       SPEC_MANIFEST ": not as it was written: cut short, changed, "
					     "or of another version");
	if (rc)
		return err_errno(err, rc, SPEC_MANIFEST);
	*out = TAKE(m);
	return 0;
}

int spec_manifest_read(int dirfd, struct spec_manifest *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = file_slurp(dirfd, SPEC_MANIFEST, MAX_MANIFEST, &text, err);

	return rc ? rc : spec_manifest_parse(strbuf_str(&text), text.len, out, err);
}

const char *spec_manifest_fact(const struct spec_manifest *m, const char *key)
{
	for (size_t i = 0; i < m->nr_facts; i++)
		if (!strcmp(m->facts[i].key, key))
			return m->facts[i].value;
	return NULL;
}

uint64_t spec_manifest_time(const struct spec_manifest *m, const char *key)
{
	const char *text = spec_manifest_fact(m, key);
	uint64_t ns;

	return text && spec_clock_parse_utc(text, &ns) ? ns : 0;
}

void spec_manifest_fini(struct spec_manifest *m)
{
	for (size_t i = 0; i < m->nr_facts; i++) {
		free(m->facts[i].key);
		free(m->facts[i].value);
	}
	for (size_t i = 0; i < m->nr_files; i++)
		free(m->files[i].path);
	free(m->facts);
	free(m->files);
	*m = (struct spec_manifest){ 0 };
}
