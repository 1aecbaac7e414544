/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libspec/session/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/hex.h"
#include "base/map.h"
#include "base/vec.h"
#include "libspec/name/clock.h"
#include "libspec/session/images.h"
#include "libspec/session/stats.h"

#define MAX_MANIFEST ((size_t)1 << 28)

enum { HEX = 2 * SPEC_SUM_BYTES, CHUNK = 128 << 10, FILE_MODE = 0644 };

static const char header[] = "# opfs manifest 1\n", sum_key[] = "# sum ";

/* ---- writing */

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
	hex_add(out, sum, SPEC_SUM_BYTES);
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
	hex_add(out, sum, SPEC_SUM_BYTES);
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

/* As sha256sum writes it: a MANIFEST has one spelling. */
static int digit(char c)
{
	return c >= 'A' && c <= 'F' ? -1 : hex_digit(c);
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
			       SPEC_MANIFEST
			       ": not as it was written: cut short, changed, "
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

/* ---- the files */

struct tree {               /* paths relative to a directory */
	struct names files; /* all that is no directory, but for the MANIFEST */
	struct names dirs;  /* still to be read */
};

static void tree_fini(struct tree *t)
{
	names_fini(&t->files);
	names_fini(&t->dirs);
}

static int add_path(struct tree *t, int dirfd, const char *dir, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct stat st;

	strbuf_printf(&path, "%s%s%s", dir, *dir ? "/" : "", name);
	if (strbuf_error(&path))
		return -ENOMEM;
	if (!strcmp(path.data, SPEC_MANIFEST))
		return 0;
	if (!fstatat(dirfd, path.data, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode))
		return names_add(&t->dirs, path.data);
	return names_add(&t->files, path.data);
}

static int read_dir(struct tree *t, int dirfd, const char *dir)
{
	CLEANUP(names_fini) struct names names = { 0 };
	CLEANUP(close_fd)
	int fd = file_open_within(dirfd, *dir ? dir : ".", O_RDONLY | O_DIRECTORY);
	int rc = fd < 0 ? fd : dirlist_read(fd, &names);

	for (size_t i = 0; i < names.len && !rc; i++)
		rc = add_path(t, dirfd, dir, names.data[i]);
	return rc;
}

static int read_tree(struct tree *t, int dirfd, struct err *err)
{
	int rc = read_dir(t, dirfd, "");

	if (rc)
		return err_errno(err, rc, "reading the directory");
	while (t->dirs.len) {
		CLEANUP(free_ptr) char *dir = t->dirs.data[--t->dirs.len];

		rc = read_dir(t, dirfd, dir);
		if (rc)
			return err_errno(err, rc, "%s", dir);
	}
	names_sort(&t->files);
	return 0;
}

static int sum_fd(int fd, uint8_t *sum)
{
	uint8_t *chunk = malloc(CHUNK);
	struct sha256_ctx ctx;
	ssize_t n = chunk ? 1 : -ENOMEM;

	sha256_init(&ctx);
	for (off_t at = 0; n > 0; at += n) {
		n = file_pread_all(fd, chunk, CHUNK, at);
		if (n > 0)
			sha256_update(&ctx, (size_t)n, chunk);
	}
	free(chunk);
	sha256_digest(&ctx, SPEC_SUM_BYTES, sum);
	return (int)n;
}

static int sum_file(int dirfd, const char *path, uint8_t *sum)
{
	CLEANUP(close_fd)
	int fd = file_open_within(dirfd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	return S_ISREG(st.st_mode) ? sum_fd(fd, sum) : -EINVAL;
}

/* ---- writing */

/* What writers make and rename is called ".something"; those who died left it. */
static int remove_leftovers(int dirfd, const char *dir, struct err *err)
{
	CLEANUP(names_fini) struct names names = { 0 };
	CLEANUP(close_fd) int fd = file_open_within(dirfd, dir, O_RDONLY | O_DIRECTORY);
	int rc = fd < 0 ? fd : dirlist_read(fd, &names);

	if (rc)
		return rc == -ENOENT ? 0 : err_errno(err, rc, "%s", dir);
	for (size_t i = 0; i < names.len && !rc; i++)
		if (names.data[i][0] == '.')
			rc = file_remove_tree(fd, names.data[i], err);
	return rc;
}

static void add_fact(struct strbuf *out, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	strbuf_printf(out, "# %s ", key);
	escape_add(out, value, strlen(value), escape_plain_field);
	strbuf_putc(out, '\n');
}

static void add_moment(struct strbuf *out, const char *key, uint64_t ns)
{
	if (!ns)
		return;
	strbuf_printf(out, "# %s ", key);
	spec_clock_utc(ns, out);
	strbuf_putc(out, '\n');
}

static void add_about(struct strbuf *out, const struct spec_manifest_about *about)
{
	CLEANUP(strbuf_fini) struct strbuf kernel = { 0 };
	struct utsname u;

	add_fact(out, SPEC_FACT_SESSION, about->session);
	add_moment(out, SPEC_FACT_START, about->start_ns);
	add_moment(out, SPEC_FACT_END, about->end_ns);
	if (!uname(&u)) {
		strbuf_printf(&kernel, "%s %s %s", u.sysname, u.release, u.machine);
		add_fact(out, SPEC_FACT_HOST, u.nodename);
		add_fact(out, SPEC_FACT_KERNEL, strbuf_str(&kernel));
	}
	add_fact(out, SPEC_FACT_CPU, about->cpu);
	for (size_t i = 0; i < about->nr_events; i++)
		add_fact(out, SPEC_FACT_EVENT, about->events[i]);
}

static int add_figures(struct strbuf *out, int session_fd, struct err *err)
{
	struct spec_stats stats;
	int rc = spec_stats_read(session_fd, &stats, err);

	for (size_t i = 0; i < SPEC_NR_STATS && !rc; i++)
		strbuf_printf(out, "# " SPEC_FACT_FIGURE " %s %" PRIu64 "\n",
			      spec_stat_info[i].name, stats.value[i]);
	return rc;
}

static int add_images(struct strbuf *out, int session_fd, struct err *err)
{
	struct spec_images images = { 0 };
	int rc = spec_images_read(session_fd, &images, err);

	for (size_t i = 0; i < images.nr && !rc; i++) {
		const struct spec_image_row *row = &images.rows[i];

		strbuf_puts(out, "# " SPEC_FACT_IMAGE " ");
		hex_add(out, row->build_id.bytes, row->build_id.len);
		strbuf_puts(out, row->build_id.len ? " " : "- ");
		escape_add(out, row->stored, strlen(row->stored), escape_plain_field);
		strbuf_putc(out, '\n');
	}
	spec_images_fini(&images);
	return rc;
}

static int add_files(struct strbuf *out, int dirfd, struct err *err)
{
	CLEANUP(tree_fini) struct tree t = { 0 };
	int rc = read_tree(&t, dirfd, err);

	if (rc)
		return rc;
	vec_for(&t.files, path) {
		uint8_t sum[SPEC_SUM_BYTES];

		rc = sum_file(dirfd, *path, sum);
		if (rc == -EINVAL)
			return err_set(err, rc, "%s: is neither a file nor a directory",
				       *path);
		if (rc)
			return err_errno(err, rc, "%s", *path);
		spec_manifest_line(out, sum, *path);
	}
	return 0;
}

int spec_manifest_write(int session_fd, const struct spec_manifest_about *about,
			struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = remove_leftovers(session_fd, ".", err);

	rc = rc ? rc : remove_leftovers(session_fd, "stats", err);
	spec_manifest_begin(&text);
	add_about(&text, about);
	rc = rc ? rc : add_figures(&text, session_fd, err);
	rc = rc ? rc : add_images(&text, session_fd, err);
	rc = rc ? rc : add_files(&text, session_fd, err);
	if (!rc)
		spec_manifest_end(&text);
	if (!rc && strbuf_error(&text))
		rc = err_errno(err, -ENOMEM, SPEC_MANIFEST);
	return rc ? rc
		  : file_replace(session_fd, SPEC_MANIFEST, text.data, text.len,
				 FILE_MODE, 1, err);
}

/* ---- verifying */

struct verifying {
	int dirfd;
	const struct spec_manifest *m;
	struct map by_path; /* path -> index of m->files, until it was met */
	int (*finding)(void *ctx, const char *path, const char *what);
	void *ctx;
};

static void verifying_fini(struct verifying *v)
{
	map_fini(&v->by_path);
}

static int verify_file(const struct verifying *v, const struct spec_manifest_file *f)
{
	uint8_t sum[SPEC_SUM_BYTES];
	struct err why = { 0 };
	int rc = sum_file(v->dirfd, f->path, sum);

	if (rc == -ENOMEM)
		return rc;
	if (rc == -ENOENT)
		return v->finding(v->ctx, f->path, "is missing");
	if (rc == -EINVAL || rc == -ELOOP)
		return v->finding(v->ctx, f->path, "is no file any more");
	if (rc) {
		err_errno(&why, rc, "cannot be read");
		return v->finding(v->ctx, f->path, why.msg);
	}
	return memcmp(sum, f->sum, sizeof(sum)) != 0
		       ? v->finding(v->ctx, f->path, "has changed")
		       : 0;
}

/* A name twice is no MANIFEST of ours, and one of them is wrong or says nothing new. */
static int verify_listed(struct verifying *v)
{
	int rc = 0;

	for (size_t i = 0; i < v->m->nr_files && !rc; i++) {
		const struct spec_manifest_file *f = &v->m->files[i];

		rc = map_set(&v->by_path, f->path, strlen(f->path), i);
		rc = rc ? rc : verify_file(v, f);
	}
	return rc;
}

int spec_manifest_verify(int dirfd, const struct spec_manifest *m,
			 int (*finding)(void *ctx, const char *path, const char *what),
			 void *ctx, struct err *err)
{
	CLEANUP(verifying_fini)
	struct verifying v = { .dirfd = dirfd, .m = m, .finding = finding, .ctx = ctx };
	CLEANUP(tree_fini) struct tree t = { 0 };
	int rc = read_tree(&t, dirfd, err);

	if (rc)
		return rc;
	rc = verify_listed(&v);
	if (rc == -ENOMEM)
		return err_errno(err, rc, SPEC_MANIFEST);
	for (size_t i = 0; i < t.files.len && !rc; i++)
		if (!map_get(&v.by_path, t.files.data[i], strlen(t.files.data[i]), NULL))
			rc = finding(ctx, t.files.data[i], "is not in the MANIFEST");
	return rc;
}
