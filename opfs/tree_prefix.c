/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

/* The beginning of a path: what can follow. */

/* The components that follow, for every way in which the pattern leads to the image. */
static int add_next(const char *pattern, const char *shown, struct names *out)
{
	int rc = 0;

	for (const char *s = strchr(shown + (*shown != 0), '/'); s && !rc;
	     s = strchr(s + 1, '/')) {
		CLEANUP(strbuf_fini) struct strbuf listed = { 0 };
		CLEANUP(free_ptr) char *next = NULL;

		if (!spec_glob_n(pattern, shown, (size_t)(s - shown)))
			continue;
		next = strndup(s + 1, strcspn(s + 1, "/"));
		if (!next)
			return -ENOMEM;
		spec_listed(next, false, next, &listed);
		/* what is cut short means nothing inside a path */
		if (strlen(next) && !spec_listed_cut(strbuf_str(&listed)))
			rc = names_add(out, strbuf_str(&listed));
	}
	return rc;
}

static int add_all_next(const struct place *p, const char *pattern, struct names *out)
{
	int rc = 0;

	for (size_t i = 0; i < p->sel->nr && !rc; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];
		const struct spec_match_image *names = p->cat->names;

		if (p->tag->id != SPEC_LIB_IMAGE && p->tag->id != SPEC_LIB_IMAGE_EXCLUDE)
			rc = add_next(pattern, names[f->app].shown, out);
		if (!rc && p->tag->id != SPEC_IMAGE && !names[f->image].label)
			rc = add_next(pattern, names[f->image].shown, out);
	}
	return rc;
}

static void add_pattern(const char *text, struct strbuf *out)
{
	for (; *text; text++) {
		if (strchr("*?[\\", *text))
			strbuf_putc(out, '\\');
		strbuf_putc(out, *text);
	}
}

/* The last item of the open value as a pattern of paths, and what that is with its
 * symbolic links resolved (empty: the same). */
static int last_pattern(const struct ask *a, const struct place *p, struct strbuf *out,
			struct strbuf *real)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	CLEANUP(strbuf_fini) struct strbuf path = { 0 }, resolved = { 0 };
	const struct spec_item *last;
	int rc = spec_value_new(p->tag, p->value, false, &v, a->err);

	if (rc || !v->items.nr || v->items.open)
		return rc;
	last = &v->items.items[v->items.nr - 1];
	strbuf_printf(out, "%s%s", last->text[0] != '/' ? "/" : "", last->pattern);
	strbuf_printf(&path, "%s%s", last->text[0] != '/' ? "/" : "", last->text);
	if (last->glob || strbuf_error(&path))
		return strbuf_error(out);
	rc = resolver_path(a->t->resolver, path.data, a->quick, &resolved);
	if (rc == -EAGAIN)
		return rc;
	add_pattern(strbuf_str(&resolved), real);
	return strbuf_error(out);
}

/* Leaves out what would leave nothing if it were excluded. */
static int drop_last_ones(const struct ask *a, const struct place *p, struct names *n)
{
	struct err ignored = { 0 };
	struct ask quiet = *a;
	size_t kept = 0;
	int rc = 0;

	quiet.err = &ignored;
	for (size_t i = 0; i < n->len; i++) {
		struct place to;
		int got = rc ? 0 : tree_value_join(&quiet, p, n->data[i], &to);

		if (!rc && !got)
			place_fini(&to);
		if (got && got != -ENOENT)
			rc = err_set(a->err, got, "%s", ignored.msg);
		if (got == -ENOENT)
			free(n->data[i]);
		else
			n->data[kept++] = n->data[i];
	}
	n->len = kept;
	return rc;
}

int tree_prefix_names(const struct ask *a, const struct place *p, struct names *out)
{
	CLEANUP(strbuf_fini) struct strbuf pattern = { 0 }, real = { 0 };
	int rc = last_pattern(a, p, &pattern, &real);

	if (rc)
		return rc;
	if (!pattern.len) { /* after a comma anything may follow */
		rc = tree_value_names(a, p, p->tag, out);
	} else {
		rc = add_all_next(p, pattern.data, out);
		if (!rc && real.len)
			rc = add_all_next(p, real.data, out);
		names_sort(out);
		if (rc)
			err_set(a->err, rc, "out of memory");
	}
	if (rc)
		return rc;
	return tree_is_exclusion(p->tag) ? drop_last_ones(a, p, out) : 0;
}
