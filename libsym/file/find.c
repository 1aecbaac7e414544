/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "libsym/file/walk.h"

enum { MAX_DEPTH = 64 };

struct search {
	struct map names;         /* basename -> 1 */
	struct map seen;          /* device and inode -> 1 */
	VEC(const char *) wanted; /* the same names, for modules */
	struct strbuf path;
	struct strbuf *out;
	size_t left, nr; /* entries to look at; files found */
	bool cut, failed;
};

static void search_fini(struct search *s)
{
	map_fini(&s->names);
	map_fini(&s->seen);
	vec_fini(&s->wanted);
	strbuf_fini(&s->path);
}

static bool is_wanted(const struct search *s, const char *name)
{
	uint64_t one;

	if (map_get(&s->names, name, strlen(name), &one))
		return true;
	if (!strstr(name, ".ko"))
		return false;
	for (size_t i = 0; i < s->wanted.len; i++)
		if (sym_module_file(name, s->wanted.data[i]))
			return true;
	return false;
}

/* A file that several links lead to is counted once. */
static void add_file(struct search *s)
{
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.cred = NULL);
	struct { /* no padding */
		uint64_t dev, ino;
	} id;
	struct stat st;
	uint64_t one;

	if (sym_walk(&w, s->path.data) || fstat(w.at.fd, &st) || !S_ISREG(st.st_mode))
		return;
	id.dev = st.st_dev;
	id.ino = st.st_ino;
	if (map_get(&s->seen, &id, sizeof(id), &one))
		return;
	if (s->nr++ >= SYM_FIND_PATHS) {
		s->cut = true;
		return;
	}
	s->failed |= map_set(&s->seen, &id, sizeof(id), 1) != 0;
	strbuf_add(s->out, s->path.data, s->path.len + 1);
}

static bool walk(struct search *s, const struct sym_at *at, int depth);

/* What a directory has: s->path, below it @name. */
static void look_at(struct search *s, const struct sym_at *dir, const struct dirent *e,
		    int depth)
{
	CLEANUP(sym_at_fini) struct sym_at at = SYM_AT_NONE;
	bool known = e->d_type != DT_UNKNOWN && e->d_type != DT_DIR;

	if (!known && sym_at_step(dir, e->d_name, &at))
		return;
	if (!S_ISDIR(at.mode) && is_wanted(s, e->d_name))
		add_file(s);
	else if (S_ISDIR(at.mode) && depth < MAX_DEPTH)
		walk(s, &at, depth + 1);
	else if (S_ISDIR(at.mode))
		s->cut = true;
}

/* False, and errno: @at, which is s->path, is no directory that can be read. */
static bool walk(struct search *s, const struct sym_at *at, int depth)
{
	CLEANUP(close_fd)
	int fd = openat(at->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(close_dir) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	size_t len = s->path.len;
	struct dirent *e;

	if (!dir)
		return false;
	fd = -1;
	while (!s->cut && !s->failed && (e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		if (!s->left--) {
			s->left = 0;
			s->cut = true;
			break;
		}
		strbuf_printf(&s->path, "/%s", e->d_name);
		s->failed |= strbuf_error(&s->path) != 0;
		if (s->failed)
			break;
		look_at(s, at, e, depth);
		strbuf_truncate(&s->path, len);
	}
	return true;
}

static int walk_top(struct search *s, const char *dir, struct err *err)
{
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.cred = NULL);
	int rc = sym_walk(&w, dir);

	strbuf_reset(&s->path);
	strbuf_puts(&s->path, dir);
	if (!rc && !walk(s, &w.at, 0))
		rc = -errno;
	return rc ? err_set(err, -EINVAL, "%s: no directory to look for binaries in: %s",
			    dir, strerror(-rc))
		  : 0;
}

static const char *next(const char *text)
{
	return text + strlen(text) + 1;
}

static int note_names(struct search *s, const char *at, const char *end)
{
	for (; at < end; at = next(at))
		if (map_set(&s->names, at, strlen(at), 1) || vec_push(&s->wanted, at))
			return -ENOMEM;
	return 0;
}

int sym_find_encode(const char *texts, size_t len, size_t nr_dirs, struct strbuf *out,
		    struct err *err)
{
	CLEANUP(search_fini) struct search s = { .left = SYM_FIND_ENTRIES, .out = out };
	const char *names = texts, *end = texts + len;
	size_t start = out->len;
	uint32_t cut = 0;

	for (size_t i = 0; i < nr_dirs && names < end; i++)
		names = next(names);
	if (note_names(&s, names, end))
		return err_set(err, -ENOMEM, "out of memory");
	strbuf_add(out, &cut, sizeof(cut));
	for (const char *dir = texts; dir < names; dir = next(dir)) {
		int rc = walk_top(&s, dir, err);

		if (rc)
			return rc;
	}
	if (s.failed || strbuf_error(out))
		return err_set(err, -ENOMEM, "out of memory");
	cut = s.cut;
	memcpy(out->data + start, &cut, sizeof(cut));
	return 0;
}

int sym_find_decode(const void *data, size_t len, struct sym_found **out, struct err *err)
{
	const char *texts = (const char *)data + sizeof(uint32_t);
	struct sym_found *f;
	uint32_t cut;
	size_t nr = 0;
	char *to;

	if (len < sizeof(cut))
		return err_set(err, -EBADMSG, "symbol helper: search failed");
	memcpy(&cut, data, sizeof(cut));
	len -= sizeof(cut);
	for (size_t i = 0; i < len; i++)
		nr += !texts[i];
	if (len && texts[len - 1])
		return err_set(err, -EBADMSG, "symbol helper: search failed");
	f = malloc(sizeof(*f) + nr * sizeof(f->path[0]) + len + 1);
	if (!f)
		return err_errno(err, -ENOMEM, "paths of binaries");
	f->cut = cut != 0;
	f->nr = nr;
	to = (char *)(f->path + nr);
	memcpy(to, texts, len);
	for (size_t i = 0; i < nr; i++) {
		f->path[i] = to;
		to += strlen(to) + 1;
	}
	*out = f;
	return 0;
}
