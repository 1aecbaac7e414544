/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/source/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "libspec/name/glob.h"

/* Limits on what becomes a path: the names come from debug information. */
enum { MAX_PATH = 3000, MAX_DEPTH = 100 };

/* Names of files and directories that are taken; a value is one of these. */
enum { IS_FILE = 1, IS_DIR = 2 };

static void add_hash(const char *of, struct strbuf *out)
{
	char hash[9];

	spec_hash8(of, hash);
	strbuf_putc(out, '~');
	strbuf_puts(out, hash);
}

static void add_component(const char *from, size_t len, struct strbuf *out)
{
	if (len == 2 && from[0] == '.' && from[1] == '.') {
		strbuf_puts(out, "%2E%2E");
	} else if (len <= SPEC_LISTED_MAX) {
		strbuf_add(out, from, len);
	} else {
		CLEANUP(strbuf_fini) struct strbuf all = { 0 };

		strbuf_add(&all, from, len);
		strbuf_add(out, from, SPEC_LISTED_MAX - 9);
		add_hash(strbuf_str(&all), out);
	}
}

/* A relative path without empty components, "." and "..". */
static void plain_path(const char *name, struct strbuf *out)
{
	size_t depth = 0;

	if (name[0] != '/')
		strbuf_puts(out, "relative");
	for (size_t len; *name; name += len) {
		name += strspn(name, "/");
		len = strcspn(name, "/");
		if (!len || (len == 1 && name[0] == '.'))
			continue;
		if (out->len)
			strbuf_putc(out, '/');
		add_component(name, len, out);
		depth++;
	}
	if (!depth)
		strbuf_puts(out, out->len ? "/unnamed" : "unnamed");
	if (depth > MAX_DEPTH || out->len > MAX_PATH) {
		strbuf_reset(out);
		strbuf_puts(out, "long");
	}
}

/* Marks every directory of a file's path as taken. */
static int mark_dirs(struct map *used, const char *path)
{
	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (map_set(used, path, (size_t)(at - path), IS_DIR))
			return -ENOMEM;
	return 0;
}

/* True if a directory of the path is the name of a file already. */
static bool blocked(const struct map *used, const char *path)
{
	uint64_t is;

	for (const char *at = strchr(path, '/'); at; at = strchr(at + 1, '/'))
		if (map_get(used, path, (size_t)(at - path), &is) && is == IS_FILE)
			return true;
	return false;
}

static bool taken(const struct map *used, const struct strbuf *path)
{
	uint64_t is;

	return map_get(used, path->data, path->len, &is) ||
	       blocked(used, strbuf_str(path));
}

/* "usr/src/x.c", or with a hash if that name is taken. */
static const char *choose(struct sources *s, struct map *used, const char *name)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };

	plain_path(name, &path);
	if (!strcmp(strbuf_str(&path), "long"))
		add_hash(name, &path);
	if (taken(used, &path)) {
		for (size_t i = 0; i < path.len; i++)
			if (blocked(used, strbuf_str(&path)) && path.data[i] == '/')
				path.data[i] = '!';
		strbuf_truncate(&path, MAX_PATH);
		add_hash(name, &path);
	}
	while (!strbuf_error(&path) && taken(used, &path))
		strbuf_putc(&path, '~');
	if (strbuf_error(&path) || mark_dirs(used, strbuf_str(&path)) ||
	    map_set(used, path.data, path.len, IS_FILE))
		return NULL;
	return arena_strdup(&s->arena, strbuf_str(&path));
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct source_file *)x)->name,
		      ((const struct source_file *)y)->name);
}

static int by_entry(const void *x, const void *y)
{
	return strcmp(((const struct source_file *)x)->entry,
		      ((const struct source_file *)y)->entry);
}

int sources_name(struct sources *s)
{
	CLEANUP(map_fini) struct map used = { 0 };

	qsort(s->files, s->nr_files, sizeof(*s->files), by_name);
	for (size_t i = 0; i < s->nr_files; i++) {
		s->files[i].entry = choose(s, &used, s->files[i].name);
		if (!s->files[i].entry)
			return -ENOMEM;
	}
	if (s->nr_rests) {
		s->rest_entry = choose(s, &used, "/no-source");
		if (!s->rest_entry)
			return -ENOMEM;
	}
	qsort(s->files, s->nr_files, sizeof(*s->files), by_entry);
	return 0;
}
