/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "libspec/session/manifest.h"
#include "libspec/session/stats.h"
#include "libspec/stack/stack_read.h"

/* A session's own files: as they are, or copies while somebody writes to the session. */

static const char *member_name(struct archive *a, const struct catalog_dir *d,
			       const char *path)
{
	strbuf_reset(&a->name);
	strbuf_printf(&a->name, "samples/%s/%s", d->session, path);
	return strbuf_str(&a->name);
}

static int64_t drained_s(const struct archive *a)
{
	return (int64_t)(a->cat->drained_ns / 1000000000u);
}

static int add_text(struct archive *a, const struct catalog_dir *d, const char *path,
		    const char *text, size_t len)
{
	struct tar_info info = { .mtime = drained_s(a) };

	info.name = member_name(a, d, path);
	if (strbuf_error(&a->name))
		return archive_no_memory(a);
	return tar_add_bytes(a->t, &info, text, len, a->err);
}

/* ---- what of a session is not put in */

/* The paths in @d of sample files that the path of the archive leaves out, and of their
 * stacks. */
static int find_left_out(const struct archive *a, const struct catalog_dir *d,
			 struct map *out)
{
	CLEANUP(strbuf_fini) struct strbuf stacks = { 0 };

	for (size_t i = 0; i < a->cat->nr_files; i++) {
		const struct catalog_file *f = &a->cat->files[i];

		if (a->chosen.files[i] || &a->cat->dirs[f->dir] != d)
			continue;
		strbuf_reset(&stacks);
		strbuf_printf(&stacks, SPEC_STACK_DIR "/%s", f->path);
		if (strbuf_error(&stacks) || map_set(out, f->path, strlen(f->path), i) ||
		    (f->stacks.nr_nodes && map_set(out, stacks.data, stacks.len, i)))
			return -ENOMEM;
	}
	return 0;
}

/* A part is told from the whole by a note of the session, which `status` shows. */
static int add_notes(struct archive *a, const struct catalog_dir *d, size_t nr_left_out)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	for (size_t i = 0; i < d->nr_notes; i++)
		strbuf_printf(&text, "%s\n", d->notes[i]);
	if (nr_left_out)
		strbuf_printf(
			&text,
			"archive of a part: %zu sample files of the session are not "
			"in it; figures are of the whole session\n",
			nr_left_out);
	if (strbuf_error(&text))
		return archive_no_memory(a);
	return text.len ? add_text(a, d, "stats/notes", text.data, text.len) : 0;
}

/* ---- saved sessions: every file below the directory */

struct walk {
	VEC(char *) todo; /* directories still to be read */
	const struct map *left_out;
};

static void walk_fini(struct walk *w)
{
	vec_for(&w->todo, dir)
		free(*dir);
	vec_fini(&w->todo);
}

/* Takes ownership of @path if it is a directory. */
static int visit(struct archive *a, const struct catalog_dir *d, struct walk *w,
		 const char *path)
{
	const struct tar_want any = { 0 };
	struct stat st;
	char *copy;

	if (map_get(w->left_out, path, strlen(path), NULL) ||
	    (w->left_out->used && !strcmp(path, SPEC_MANIFEST)))
		return 0;
	if (fstatat(d->fd, path, &st, AT_SYMLINK_NOFOLLOW))
		return 0; /* removed while we walk */
	if (S_ISREG(st.st_mode))
		return archive_try_file(a, member_name(a, d, path), false, d->fd, path,
					&any);
	if (!S_ISDIR(st.st_mode))
		return archive_left_out(a, member_name(a, d, path),
					"is neither a file nor a directory");
	copy = strdup(path);
	if (copy && !vec_push(&w->todo, copy))
		return 0;
	free(copy);
	return archive_no_memory(a);
}

/* Hidden files are the collector's own: unfinished files, and figures on a full disk. */
static bool is_passed_over(const char *dir, const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..") ||
	       (name[0] == '.' &&
		(!*dir || !strcmp(dir, "stats") || !strcmp(dir, SPEC_STACK_DIR)));
}

static int read_dir(struct archive *a, const struct catalog_dir *d, struct walk *w,
		    const char *path)
{
	CLEANUP(strbuf_fini) struct strbuf child = { 0 };
	CLEANUP(close_dir) DIR *dir = NULL;
	CLEANUP(close_fd) int fd = -1;
	struct dirent *e;
	int rc = 0;

	fd = file_open_within(d->fd, *path ? path : ".",
			      O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (!dir)
		return archive_left_out(a, member_name(a, d, path), "cannot be read");
	take_fd(&fd);
	while (!rc && (e = readdir(dir))) {
		if (is_passed_over(path, e->d_name))
			continue;
		if (viewer_gone(a->job->v))
			return report_interrupted(a->err);
		strbuf_reset(&child);
		strbuf_printf(&child, "%s%s%s", path, *path ? "/" : "", e->d_name);
		rc = strbuf_error(&child) ? archive_no_memory(a)
					  : visit(a, d, w, child.data);
	}
	return rc;
}

static int add_saved(struct archive *a, const struct catalog_dir *d,
		     const struct map *left_out)
{
	CLEANUP(walk_fini) struct walk w = { .left_out = left_out };
	int rc = left_out->used ? add_notes(a, d, left_out->used) : 0;

	rc = rc ? rc : read_dir(a, d, &w, "");
	while (!rc && w.todo.len) {
		CLEANUP(free_ptr) char *path = w.todo.data[--w.todo.len];

		rc = read_dir(a, d, &w, path);
	}
	return rc;
}

/* ---- live ones: the catalog has a copy of the samples */

/* What a live session's sample file was when the catalog was read. */
struct frozen {
	const char *path;
	const struct spec_sample_header *header;
	uint32_t nr_nodes;
	off_t at; /* of its nodes in the copy */
};

/* Writes a whole sample file anew; its hash table may be empty, since readers do not use
 * it. */
static int add_frozen(struct archive *a, const struct catalog_dir *d,
		      const struct frozen *f)
{
	struct spec_sample_descr descr = { .size = SPEC_SAMPLE_MIN_NODES,
					   .current_size = f->nr_nodes + 1 };
	struct tar_info info = { .mtime = drained_s(a) };
	const struct spec_sample_node unused = { 0 };
	CLEANUP(strbuf_fini) struct strbuf head = { 0 };
	uint64_t bytes = (uint64_t)f->nr_nodes * sizeof(unused);

	while (descr.size < descr.current_size)
		descr.size *= 2;
	strbuf_add(&head, f->header, sizeof(*f->header));
	strbuf_add(&head, &descr, sizeof(descr));
	strbuf_add(&head, &unused, sizeof(unused));
	info.name = member_name(a, d, f->path);
	if (strbuf_error(&head) || strbuf_error(&a->name))
		return archive_no_memory(a);
	return tar_add_range(a->t, &info, &head, a->cat->copy_fd, f->at, bytes,
			     (uint64_t)(descr.size - descr.current_size) *
					     sizeof(unused) +
				     (uint64_t)descr.size * sizeof(uint32_t),
			     a->err);
}

static int add_file(struct archive *a, const struct catalog_dir *d,
		    const struct catalog_file *f)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct frozen file = { .path = f->path,
			       .header = &f->header,
			       .nr_nodes = f->nr_nodes,
			       .at = f->copy_off };
	int rc = add_frozen(a, d, &file);

	if (rc || !f->stacks.nr_nodes)
		return rc;
	strbuf_printf(&path, SPEC_STACK_DIR "/%s", f->path);
	if (strbuf_error(&path))
		return archive_no_memory(a);
	file.path = strbuf_str(&path);
	file.nr_nodes = f->stacks.nr_nodes;
	file.at = f->stacks.copy_off;
	return add_frozen(a, d, &file);
}

/* The frames that there are by now: those that were counted are among them, and none is
 * ever changed. */
static int add_frames(struct archive *a, const struct catalog_dir *d)
{
	struct tar_info info = { .mtime = drained_s(a) };
	CLEANUP(strbuf_fini) struct strbuf head = { 0 };
	struct spec_stack_header h;
	uint64_t there;
	struct stat st;
	int rc;

	if (d->frames_fd < 0)
		return 0;
	info.name = member_name(a, d, SPEC_STACK_TABLE);
	rc = spec_stacks_header(d->frames_fd, &h, NULL);
	if (rc || fstat(d->frames_fd, &st) || st.st_size < (off_t)spec_stack_len(1))
		return archive_left_out(a, info.name, "cannot be read");
	/* a power failure may leave fewer than it says */
	there = ((uint64_t)st.st_size - sizeof(h)) / sizeof(struct spec_stack_node);
	h.nr = h.nr < there ? h.nr : there;
	strbuf_add(&head, &h, sizeof(h));
	if (strbuf_error(&head) || strbuf_error(&a->name))
		return archive_no_memory(a);
	return tar_add_range(a->t, &info, &head, d->frames_fd, sizeof(h),
			     h.nr * sizeof(struct spec_stack_node), 0, a->err);
}

static bool plain_event(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
	       (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

/* A live session is archived as it was at this generation, and marked as closed. */
static int add_figures(struct archive *a, const struct catalog_dir *d)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 }, text = { 0 };
	int rc = 0;

	for (int i = 0; i < SPEC_NR_STATS && !rc; i++) {
		if (!d->stats.value[i])
			continue;
		strbuf_reset(&path);
		strbuf_reset(&text);
		strbuf_printf(&path, "stats/%s", spec_stat_info[i].name);
		strbuf_printf(&text, "%" PRIu64, d->stats.value[i]);
		rc = add_text(a, d, strbuf_str(&path), strbuf_str(&text), text.len);
	}
	for (size_t i = 0; i < d->nr_throttled && !rc; i++) {
		strbuf_reset(&path);
		strbuf_puts(&path, "stats/throttled/");
		escape_add(&path, d->throttled[i], strlen(d->throttled[i]), plain_event);
		rc = add_text(a, d, strbuf_str(&path), "", 0);
	}
	strbuf_reset(&text);
	strbuf_printf(&text, "%" PRIu64 " %" PRIu64 " closed\n", d->live.generation,
		      d->live.drained_ns);
	if (!rc && d->has_live)
		rc = add_text(a, d, "stats/live", strbuf_str(&text), text.len);
	return strbuf_error(&path) || strbuf_error(&text) ? archive_no_memory(a) : rc;
}

static int add_live(struct archive *a, const struct catalog_dir *d, size_t nr_left_out)
{
	static const char *const tables[] = { "images", "tasks", "regions",
					      SPEC_STACK_DIR "/images", "stats/started" };
	const struct tar_want want = { .grows = true };
	int rc = add_figures(a, d);

	rc = rc ? rc : add_notes(a, d, nr_left_out);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !rc; i++)
		if (!faccessat(d->fd, tables[i], F_OK, AT_SYMLINK_NOFOLLOW))
			rc = archive_try_file(a, member_name(a, d, tables[i]), false,
					      d->fd, tables[i], &want);
	for (size_t i = 0; i < a->cat->nr_files && !rc; i++)
		if (a->chosen.files[i] && &a->cat->dirs[a->cat->files[i].dir] == d)
			rc = add_file(a, d, &a->cat->files[i]);
	rc = rc ? rc : add_frames(a, d);
	for (size_t i = 0; i < a->cat->nr_bad && !rc; i++)
		if (strcmp(a->cat->bad[i].path, SPEC_ABI) != 0)
			rc = archive_left_out(a, a->cat->bad[i].path,
					      a->cat->bad[i].reason);
	return rc;
}

/* ---- both */

static int add_session(struct archive *a, const struct catalog_dir *d)
{
	CLEANUP(map_fini) struct map left_out = { 0 };
	struct tar_info info = { .mtime = drained_s(a) };
	struct stat st;
	int rc;

	if (d->fd >= 0 && !fstat(d->fd, &st))
		info.mtime = st.st_mtim.tv_sec;
	info.name = member_name(a, d, "");
	if (strbuf_error(&a->name))
		return archive_no_memory(a);
	rc = tar_add_dir(a->t, &info, a->err);
	if (rc || d->fd < 0) /* "current" that is not there yet */
		return rc;
	if (find_left_out(a, d, &left_out))
		return archive_no_memory(a);
	/* nobody writes to a session of another kind of machine here */
	return catalog_is_live(d) && !d->abi ? add_live(a, d, left_out.used)
					     : add_saved(a, d, &left_out);
}

int archive_add_sessions(struct archive *a)
{
	int rc = archive_try_own(a, SPEC_ABI); /* damaged or not */

	for (size_t i = 0; i < a->cat->nr_dirs && !rc; i++)
		rc = add_session(a, &a->cat->dirs[i]);
	return rc;
}
