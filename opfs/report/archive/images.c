/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/session/session.h"
#include "libsym/elf/vdso.h"
#include "libsym/file/caches.h"
#include "libsym/wire/kept.h"
#include "opfs/profile/lines.h"

/* What only the running system can tell: kernel symbols and the vdso. */

static const char *const kernel_files[] = { "/proc/kallsyms", "/proc/modules",
					    "/sys/kernel/notes" };
enum { CHUNK = 64 << 10 };

/* Such files have no size before they are read, and their own view of who opened them. */
static int copy_file(struct archive *a, const char *path, int to, uint64_t *len)
{
	CLEANUP(close_fd) int from = archive_open(a, path, false, NULL);
	char chunk[CHUNK];
	ssize_t got;
	int rc = 0;

	if (from < 0)
		return from;
	for (*len = 0; !rc && (got = read(from, chunk, sizeof(chunk))) != 0;) {
		if (got < 0)
			return -errno;
		rc = file_write_all(to, chunk, (size_t)got);
		*len += (uint64_t)got;
	}
	return rc;
}

static int add_copy(struct archive *a, const char *name, const char *path)
{
	const struct strbuf nothing = { 0 };
	struct tar_info info = { .name = name,
				 .mtime = (int64_t)(a->cat->drained_ns / 1000000000u) };
	int fd = file_unnamed(), rc;
	uint64_t len;

	if (fd < 0)
		return archive_left_out(a, path, strerror(-fd));
	if (vec_push(&a->fds, fd)) {
		close(fd);
		return archive_no_memory(a);
	}
	rc = copy_file(a, path, fd, &len);
	if (rc == -ENOENT) /* a kernel without modules */
		return 0;
	if (rc)
		return archive_left_out(a, path, strerror(-rc));
	return tar_add_range(a->t, &info, &nothing, fd, 0, len, 0, a->err);
}

static int add_kernel(struct archive *a)
{
	CLEANUP(strbuf_fini) struct strbuf at = { 0 };
	int rc = 0;

	for (size_t i = 0; i < sizeof(kernel_files) / sizeof(kernel_files[0]) && !rc;
	     i++) {
		const char *path = kernel_files[i];

		strbuf_reset(&a->name);
		strbuf_printf(&a->name, ARCHIVE_DIR "%s", path);
		strbuf_reset(&at);
		if (a->cat->archive.has_kernel &&
		    archive_dir_path(&a->cat->archive, path, &at))
			path = strbuf_str(&at);
		if (strbuf_error(&a->name) || strbuf_error(&at))
			return archive_no_memory(a);
		if (!tar_has(a->t, a->name.data))
			rc = add_copy(a, a->name.data, path);
	}
	return rc;
}

static int add_vdso(struct archive *a, const struct build_id *id)
{
	struct tar_info info = { .executable = true,
				 .mtime = (int64_t)(a->cat->drained_ns / 1000000000u) };
	void *image;
	size_t size;

	if (!sym_vdso_image(&image, &size))
		return archive_left_out(a, "[vdso]", "this kernel has none");
	strbuf_reset(&a->name);
	strbuf_puts(&a->name, ARCHIVE_DIR);
	archive_dir_vdso(id, &a->name);
	info.name = strbuf_str(&a->name);
	return strbuf_error(&a->name) ? archive_no_memory(a)
				      : tar_add_bytes(a->t, &info, image, size, a->err);
}

/*
 * Binaries that match what was sampled, the files of their names and lines, and sources.
 */

#define MAX_SOURCE (64u << 20) /* as libsym reads them */

/*
 * Where a file of the sampled machine goes in the archive; NULL: it has no place there.
 */
static const char *place(struct archive *a, const char *path)
{
	if (!archive_dir_takes(path)) {
		archive_left_out(a, path, "a path that no archive can hold");
		return NULL;
	}
	strbuf_reset(&a->name);
	strbuf_printf(&a->name, ARCHIVE_DIR "%s", path);
	return strbuf_error(&a->name) ? NULL : a->name.data;
}

/* ---- binaries */

/*
 * The path by which the sessions know an image; the path of another place where it was
 * found means nothing elsewhere.
 */
static const char *known_path(const struct archive *a, const struct catalog_image *img,
			      const char *found)
{
	if (img->row && img->row->real_path && img->row->real_path[0] == '/')
		return img->row->real_path;
	if (img->name.kind == SPEC_IMAGE_ROOT)
		return img->name.name;
	return archive_dir_shown(&a->cat->archive, found);
}

/* The hexadecimal build-id that a cache (libsym/file/caches.h) or a debug file installed
 * by build-id has in its path, without slashes. */
static bool id_in_path(const char *path, struct strbuf *hex)
{
	const char *by_id = strstr(path, "/.build-id/"), *base = strrchr(path, '/');
	size_t len;

	if (by_id) { /* ab/cdef.debug, ab/cdef/debug */
		by_id += strlen("/.build-id/");
		len = strcspn(by_id, "/");
		strbuf_add(hex, by_id, len);
		by_id += len + (by_id[len] == '/');
		strbuf_add(hex, by_id, strcspn(by_id, "./"));
	} else if (base && !strcmp(base, "/debuginfo")) {
		for (by_id = base; by_id > path && by_id[-1] != '/';)
			by_id--;
		strbuf_add(hex, by_id, (size_t)(base - by_id));
	}
	return hex->len > 2 && !strbuf_error(hex);
}

/* Debug files found by build-id are found so again, others beside the image by their
 * name. */
static int add_debug(struct archive *a, const char *image, const char *debug)
{
	const struct tar_want want = { .elf = true };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 }, hex = { 0 };
	const char *base = strrchr(debug, '/'), *dir_end = strrchr(image, '/'), *name;
	bool by_id = id_in_path(debug, &hex);

	if (!*debug || !base || (!by_id && !dir_end))
		return 0;
	if (by_id)
		strbuf_printf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex.data,
			      hex.data + 2);
	else
		strbuf_printf(&path, "%.*s/.debug%s", (int)(dir_end - image), image,
			      base);
	if (strbuf_error(&path))
		return archive_no_memory(a);
	name = place(a, path.data);
	return name ? archive_try_file(a, name, false, AT_FDCWD, debug, &want) : 0;
}

/*
 * The path of one of several debug files, wherever it was: it is found by its build-id.
 */
static int add_shared(struct archive *a, const char *path, const char *id)
{
	const struct tar_want want = { .elf = true };
	CLEANUP(strbuf_fini) struct strbuf to = { 0 };
	const char *name;

	strbuf_printf(&to, "/usr/lib/debug/.build-id/%.2s/%s.debug", id,
		      id + strnlen(id, 2));
	if (strbuf_error(&to))
		return archive_no_memory(a);
	name = place(a, to.data);
	return name ? archive_try_file(a, name, false, AT_FDCWD, path, &want) : 0;
}

static bool is_right(const struct sym_table *t)
{
	return sym_usable(t->state) || t->state == SYM_NO_SYMBOLS;
}

/* The file that was read: a table that was kept may name any. */
static const char *read_path(const struct sym_table *t, const struct sym_job *job)
{
	const struct sym_places p = { .debuginfod = sym_caches_debuginfod(),
				      .perf = sym_caches_perf() };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	for (unsigned i = 0;
	     sym_caches_path(&p, &job->build_id, SYM_CACHED_IMAGE, i, &path); i++)
		if (*t->path && !strcmp(t->path, strbuf_str(&path)))
			return t->path;
	return job->path ? job->path : t->path;
}

static int add_image(struct archive *a, const struct catalog_image *img,
		     const struct sym_table *t, const struct sym_job *job)
{
	const struct tar_want want = { .dev = t->dev, .ino = t->ino };
	/* texts in tables have no control bytes */
	const char *at = read_path(t, job);
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	const char *name;
	int rc = 0;

	if (!is_right(t))
		return archive_left_out(a, img->shown, t->reason);
	if (job->kind == SYM_VDSO)
		return add_vdso(a, &t->build_id);
	if (t->source == SYM_FROM_KALLSYMS || job->kind == SYM_KALLSYMS)
		return add_kernel(a);
	if (img->name.kind == SPEC_IMAGE_ANON) /* a vdso from another archive */
		archive_dir_vdso(&t->build_id, &path);
	else
		strbuf_puts(&path, known_path(a, img, at));
	if (strbuf_error(&path))
		return archive_no_memory(a);
	name = place(a, path.data);
	if (name)
		rc = archive_try_file(a, name, true, AT_FDCWD, at, &want);
	return rc || !name ? rc : add_debug(a, path.data, t->debug_path);
}

/* What was kept of its names, for whoever cannot have the binary. */
static int add_kept(struct archive *a, const struct sym_job *job)
{
	char name[SYM_KEPT_NAME];

	if (!sym_kept_name(job, name))
		return 0;
	strbuf_reset(&a->name);
	strbuf_printf(&a->name, SPEC_SYMBOLS_DIR "/%s", name);
	return strbuf_error(&a->name) ? archive_no_memory(a)
				      : archive_try_own(a, a->name.data);
}

static int load_image(struct archive *a, uint32_t i)
{
	const struct profile_image *img = &a->job->p->images[i];
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	const struct viewer *v = a->job->v;
	struct sym_job job = img->job;
	int rc;

	job.cred = viewer_cred(v);
	rc = sym_cache_load(a->job->syms, &job, viewer_cancel(v), &t, a->err);
	if (rc == -EINTR || rc == -ENOMEM)
		return rc;
	if (rc)
		return archive_left_out(a, a->cat->images[i].shown,
					"its helper could not be started");
	rc = add_image(a, &a->cat->images[i], t, &job);
	return rc ? rc : add_kept(a, &job);
}

/* ---- sources */

/* 1: there is none. */
static int try_source(struct archive *a, const char *name, int dirfd, const char *path)
{
	const struct tar_want want = { .text = true, .max_size = MAX_SOURCE };
	const struct tar_info info = { .name = name };
	struct err why = { 0 };
	int rc = tar_has(a->t, name)
			 ? 0
			 : tar_add_file(a->t, &info, dirfd, path, &want, &why);

	if (rc == -ENOMEM)
		return archive_no_memory(a);
	if (rc == -ENOENT || rc == -ENOTDIR)
		return 1; /* annotate/ reports those */
	return rc ? archive_left_out(a, path, why.msg) : 0;
}

static int add_source(struct archive *a, const char *path)
{
	const char *name;
	int rc = 1;

	if (!archive_dir_takes(path)) /* relative: nobody knows to which directory */
		return 0;
	name = place(a, path);
	if (!name)
		return archive_no_memory(a);
	if (a->root >= 0)
		rc = try_source(a, name, a->root, path + 1);
	if (rc == 1)
		rc = try_source(a, name, AT_FDCWD, path);
	return rc == 1 ? 0 : rc;
}

static int add_lines(struct archive *a, uint32_t image, const struct sym_lines *l)
{
	const struct catalog_image *img = &a->cat->images[image];
	int rc = add_debug(a, known_path(a, img, ""), l->debug_path);

	if (!rc && *l->alt_path)
		rc = add_shared(a, l->alt_path, l->alt_id);
	for (size_t i = 0; i < l->nr_files && !rc; i++) {
		if (viewer_gone(a->job->v))
			return report_interrupted(a->err);
		rc = add_source(a, l->files[i]);
	}
	return rc;
}

static int add_sources(struct archive *a, const struct profile_row *const *rows,
		       size_t nr, enum lines_of what)
{
	const struct lines_query q = { .p = a->job->p,
				       .rows = rows,
				       .nr_rows = nr,
				       .what = what,
				       .flags = SYM_LINES_INLINES,
				       .syms = a->job->syms,
				       .v = a->job->v };
	CLEANUP(lines_freep) struct lines *lines = NULL;
	int rc = lines_load(&q, &lines, a->err);

	for (uint32_t i = 0; i < a->cat->nr_images && !rc; i++) {
		const struct sym_lines *l =
			a->chosen.images[i] ? lines_image(lines, i) : NULL;

		if (l)
			rc = add_lines(a, i, l);
	}
	return rc;
}

/*
 * Asks for the lines of all code that reports may show: functions, and samples outside.
 */
static int add_all_sources(struct archive *a)
{
	const struct profile *p = a->job->p;
	CLEANUP(free_ptr) const struct profile_row **outside = NULL;
	size_t nr = 0;
	int rc;

	outside = calloc(p->nr_rows + 1, sizeof(*outside));
	if (!outside)
		return archive_no_memory(a);
	for (size_t i = 0; i < p->nr_rows; i++)
		if (!p->rows[i].sym)
			outside[nr++] = &p->rows[i];
	rc = add_sources(a, NULL, 0, LINES_OF_CODE);
	return rc ? rc : add_sources(a, outside, nr, LINES_OF_HITS);
}

int archive_add_images(struct archive *a)
{
	const struct profile *p = a->job->p;
	int rc = 0;

	if (!a->job->syms)
		return 0;
	for (uint32_t i = 0; i < a->cat->nr_images && !rc; i++)
		if (a->chosen.images[i] && p->images[i].has_job)
			rc = load_image(a, i);
	return rc ? rc : add_all_sources(a);
}
