/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#include "base/escape.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "libspec/clock.h"
#include "libspec/dirlist.h"
#include "libspec/images.h"
#include "libspec/manifest.h"
#include "libspec/stats.h"

/* The files below a directory, and a MANIFEST of them. */
enum { CHUNK = 128 << 10, FILE_MODE = 0644 };

/* ---- the files */

struct tree { /* paths relative to a directory */
	VEC(char *) files; /* all that is no directory, but for the MANIFEST */
	VEC(char *) dirs;  /* still to be read */
};

static void tree_fini(struct tree *t)
{
	vec_for(&t->files, path)
		free(*path);
	vec_for(&t->dirs, path)
		free(*path);
	vec_fini(&t->files);
	vec_fini(&t->dirs);
}

static int add_path(struct tree *t, int dirfd, const char *dir, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	CLEANUP(free_ptr) char *taken = NULL;
	struct stat st;
	int rc;

	strbuf_printf(&path, "%s%s%s", dir, *dir ? "/" : "", name);
	taken = strbuf_take(&path);
	if (!taken)
		return -ENOMEM;
	if (!strcmp(taken, SPEC_MANIFEST))
		return 0;
	if (!fstatat(dirfd, taken, &st, AT_SYMLINK_NOFOLLOW) && S_ISDIR(st.st_mode))
		rc = vec_push(&t->dirs, taken);
	else
		rc = vec_push(&t->files, taken);
	if (!rc)
		taken = NULL;
	return rc;
}

static int read_dir(struct tree *t, int dirfd, const char *dir)
{
	CLEANUP(spec_dirlist_fini) struct spec_dirlist names = { 0 };
	CLEANUP(close_fd)
	int fd = file_open_within(dirfd, *dir ? dir : ".", O_RDONLY | O_DIRECTORY);
	int rc = fd < 0 ? fd : spec_dirlist_read(fd, &names);

	for (size_t i = 0; i < names.nr && !rc; i++)
		rc = add_path(t, dirfd, dir, names.names[i]);
	return rc;
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
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
	if (t->files.len)
		qsort(t->files.data, t->files.len, sizeof(*t->files.data), compare_paths);
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
	CLEANUP(spec_dirlist_fini) struct spec_dirlist names = { 0 };
	CLEANUP(close_fd) int fd = file_open_within(dirfd, dir, O_RDONLY | O_DIRECTORY);
	int rc = fd < 0 ? fd : spec_dirlist_read(fd, &names);

	if (rc)
		return rc == -ENOENT ? 0 : err_errno(err, rc, "%s", dir);
	for (size_t i = 0; i < names.nr && !rc; i++)
		if (names.names[i][0] == '.')
			rc = file_remove_tree(fd, names.names[i], err);
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
		for (size_t b = 0; b < row->build_id.len; b++)
			strbuf_printf(out, "%02x", row->build_id.bytes[b]);
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
	CLEANUP(verifying_fini) struct verifying v = {
		.dirfd = dirfd, .m = m, .finding = finding, .ctx = ctx
	};
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
