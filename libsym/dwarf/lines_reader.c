/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/dwarf/lines_reader.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"

int sym_lines_text(struct sym_lines_reader *r, const char *text, uint32_t *out)
{
	size_t len = strlen(text);
	uint64_t at;

	if (map_get(&r->texts, text, len, &at)) {
		*out = (uint32_t)at;
		return 0;
	}
	*out = (uint32_t)r->b.names.len;
	strbuf_add(&r->b.names, text, len + 1);
	if (strbuf_error(&r->b.names) || r->b.names.len > UINT32_MAX)
		return -ENOMEM;
	return map_set(&r->texts, text, len, *out);
}

/* Appends "/a/b" for each part of a path, without "." and "..". */
static void add_path(struct strbuf *out, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !memcmp(path, "..", 2)) {
			while (out->len && out->data[out->len - 1] != '/')
				strbuf_truncate(out, out->len - 1);
			if (out->len)
				strbuf_truncate(out, out->len - 1);
		} else if (len && !(len == 1 && *path == '.')) {
			strbuf_putc(out, '/');
			strbuf_add(out, path, len);
		}
		path += len;
		path += *path == '/';
	}
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

static int intern_path(struct sym_lines_reader *r, const char *path, size_t len,
		       uint32_t *out)
{
	uint64_t known;
	uint32_t text;
	int rc;

	if (map_get(&r->files, path, len, &known)) {
		*out = (uint32_t)known;
		return 0;
	}
	rc = sym_lines_text(r, path, &text);
	if (!rc)
		rc = vec_push(&r->b.files, text);
	if (rc)
		return rc;
	*out = (uint32_t)r->b.files.len - 1;
	return map_set(&r->files, path, len, *out);
}

/*
 * libdw joins a name with its directory, but with that of the compilation only at times.
 */
static int read_path(struct sym_lines_reader *r, const char *src, uint32_t *out)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	bool absolute = *src == '/';

	if (!absolute && !is_below(src, r->comp_dir)) {
		add_path(&path, r->comp_dir);
		absolute = *r->comp_dir == '/';
	}
	add_path(&path, src);
	if (strbuf_error(&path))
		return -ENOMEM;
	if (path.len < 2)
		return 0;
	return intern_path(r, strbuf_str(&path) + !absolute, path.len - !absolute, out);
}

int sym_lines_file(struct sym_lines_reader *r, uint64_t file, uint32_t *out)
{
	const char *src;
	int rc;

	*out = SYM_LINE_NONE;
	if (file >= r->file_map.len)
		return 0;
	if (r->file_map.data[file]) {
		*out = r->file_map.data[file] - 1;
		return 0;
	}
	src = dwarf_filesrc(r->unit_files, file, NULL, NULL);
	if (!src || !*src || src[strlen(src) - 1] == '/' || !strcmp(src, "???"))
		return 0;
	rc = read_path(r, src, out);
	if (!rc && *out != SYM_LINE_NONE)
		r->file_map.data[file] = *out + 1;
	return rc;
}

bool sym_lines_wanted(const struct sym_lines_reader *r)
{
	for (size_t i = 0; i < r->ranges.len; i++)
		if (sym_wants_any(&r->wants, r->ranges.data[i].lo, r->ranges.data[i].hi))
			return true;
	return false;
}
