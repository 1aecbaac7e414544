/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/find.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/strbuf.h"
#include "libsym/server/server.h"

/* Finds binaries that are no longer where they were when they were sampled. */

void profile_where_fini(struct profile_where *w)
{
	free(w->found);
	w->found = NULL;
}

static int check_path(struct profile_build *b, const char *tag, const char *path)
{
	return path[0] == '/' ? 0
			      : err_set(b->err, -EINVAL,
					"%s: %s: a path from / on is needed", tag, path);
}

/* ---- root: */

static const char *below(struct profile_build *b, const char *root, const char *path)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	strbuf_printf(&text, "%s%s", root, path);
	return strbuf_error(&text) ? NULL : arena_strdup(&b->p->arena, text.data);
}

const char *profile_below_root(struct profile_build *b, const char *path)
{
	return b->where.root ? below(b, b->where.root, path) : path;
}

static int use_root(struct profile_build *b, const struct spec_value *v)
{
	struct sym_places *places;
	char *root;
	int rc;

	if (v->items.nr != 1)
		return err_set(b->err, -EINVAL, "root: one directory is needed");
	rc = check_path(b, "root", v->items.items[0].text);
	if (rc)
		return rc;
	root = arena_strdup(&b->p->arena, v->items.items[0].text);
	places = arena_calloc(&b->p->arena, 1, sizeof(*places));
	if (!root || !places)
		return profile_no_memory(b);
	for (size_t len = strlen(root); len && root[len - 1] == '/'; len--)
		root[len - 1] = '\0';
	places->debug_dir = below(b, root, "/usr/lib/debug");
	places->modules_dir = below(b, root, "/lib/modules");
	b->where.root = root;
	b->where.places = places;
	return places->debug_dir && places->modules_dir ? 0 : profile_no_memory(b);
}

/* ---- image-path: */

static int search(struct profile_build *b, const struct spec_value *v,
		  const char *const *names, size_t nr, const struct cred *cred)
{
	CLEANUP(free_ptr) const char **dirs = calloc(v->items.nr + 1, sizeof(*dirs));
	struct sym_wanted w = {
		.dirs = dirs, .names = names, .nr_dirs = v->items.nr, .nr_names = nr
	};
	int rc = 0;

	if (!dirs)
		return profile_no_memory(b);
	for (size_t i = 0; i < v->items.nr && !rc; i++) {
		rc = check_path(b, "image-path", v->items.items[i].text);
		dirs[i] = profile_below_root(b, v->items.items[i].text);
		if (!dirs[i])
			return profile_no_memory(b);
	}
	return rc ? rc
		  : sym_server_find(sym_cache_server(b->syms), &w, cred,
				    viewer_cancel(b->v), &b->where.found, b->err);
}

int profile_find_binaries(struct profile_build *b, const char *const *names, size_t nr,
			  const struct cred *cred)
{
	int rc = b->q->root ? use_root(b, b->q->root) : 0;

	return rc || !b->q->image_path ? rc
				       : search(b, b->q->image_path, names, nr, cred);
}

static bool is_called(const char *path, const char *name, bool module)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	return module ? sym_module_file(base, name) : !strcmp(base, name);
}

static void say(struct profile_build *b, const char **why, const struct strbuf *text)
{
	*why = strbuf_error(text) ? NULL : arena_strdup(&b->p->arena, text->data);
}

static void say_two(struct strbuf *text, const char *one, const char *other)
{
	strbuf_puts(text, "image-path: more than one file is called so, ");
	escape_text(text, one);
	strbuf_puts(text, " and ");
	escape_text(text, other);
	strbuf_puts(text, ": name a directory that has one");
}

const char *profile_found(struct profile_build *b, const char *name, bool module,
			  const char **why)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	const struct sym_found *found = b->where.found;
	const char *first = NULL;
	size_t nr = 0;

	for (size_t i = 0; i < found->nr; i++) {
		if (!is_called(found->path[i], name, module))
			continue;
		if (!nr++)
			first = found->path[i];
		else if (nr == 2)
			say_two(&text, first, found->path[i]);
	}
	if (nr == 1)
		return arena_strdup(&b->p->arena, first);
	if (!nr)
		strbuf_printf(&text, "image-path: no file there is called so%s",
			      found->cut ? ", as far as it was searched: name a smaller "
					   "directory"
					 : "");
	say(b, why, &text);
	return NULL;
}
