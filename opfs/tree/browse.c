/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/browse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/profile/stacks.h"
#include "opfs/tree/browse_tree.h"
#include "opfs/tree/frames.h"
#include "opfs/tree/profiles.h"
#include "opfs/tree/select.h"
#include "opfs/tree/text.h"
#include "opfs/tree/value.h"

static void *kind_get(void *obj)
{
	return browse_tree_get(obj);
}

static void kind_put(void *obj)
{
	browse_tree_put(obj);
}

static const struct cache_kind browse_cache = { .get = kind_get, .put = kind_put };

static void put_tree(struct browse_tree **t)
{
	browse_tree_put(*t);
}

/* ---- the trees, from the cache */

/* A function called "report" or "sort:x" is not to hide the file, nor the tag.  One
 * called "sort" may: the tag is "sort:", too. */
static bool is_ours(void *ctx, const char *listed)
{
	const struct ask *a = ctx;
	struct spec_word word;

	return tree_report(a, listed) || !strcmp(listed, "more") ||
	       !strcmp(listed, "more:") ||
	       (strchr(listed, ':') && spec_word_parse(listed, strlen(listed), &word));
}

static enum browse_kind kind_of(const struct spec_tag *tag)
{
	return tag->id == SPEC_CALLS     ? BROWSE_CALLS
	       : tag->id == SPEC_CALLERS ? BROWSE_CALLERS
					 : BROWSE_THROUGH;
}

static void after_fini(struct browse_after *after)
{
	free(after->stacks);
	free(after->skips);
}

struct making {
	const struct ask *a;
	const struct place *from;
	const struct spec_tag *tag;
	const char *value; /* NULL: all */
};

/* The tree of what comes after the functions of a value.  0, -EINTR, -ENOMEM, -E2BIG. */
static int make_after(const struct making *m, const struct ask *a,
		      const struct profile *p, struct browse_tree **out)
{
	CLEANUP(after_fini) struct browse_after after = { .value = m->value };
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	CLEANUP(profile_putp) struct profile *names = NULL;
	enum browse_kind kind = kind_of(m->tag);
	int rc = spec_value_new(m->tag, m->value, false, &v, a->err);

	if (!rc && tree_spells_otherwise(m->from->spec))
		rc = tree_plain_profile(a, m->from, PROFILE_STACKS, &names);
	if (rc)
		return rc;
	after.skip = (uint32_t)v->nr_frames;
	after.stacks = calloc(p->stacks->nr_stacks + 1, 1);
	after.skips = calloc(p->stacks->nr_frames + 1, 1);
	if (!after.stacks || !after.skips ||
	    tree_frames_after(m->tag, v, p, names ? names : p, after.stacks, after.skips))
		return ask_no_memory(a);
	return browse_tree_new(p, kind == BROWSE_THROUGH ? BROWSE_CALLS : kind, &after,
			       is_ours, (void *)(uintptr_t)a, a->v, out, a->err);
}

static int make(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	const struct making *m = ctx;
	struct ask a = *m->a;
	struct browse_tree *t;
	struct profile *p;
	int rc;

	a.v = v;
	a.err = err;
	rc = tree_profile(&a, m->from, PROFILE_STACKS, &p);
	if (rc)
		return rc;
	if (p->stacks && m->value)
		rc = make_after(m, &a, p, &t);
	else if (p->stacks)
		rc = browse_tree_new(p, kind_of(m->tag), NULL, is_ours, &a, v, &t, err);
	else
		rc = err_set(err, -ENOENT, TREE_NO_STACKS);
	profile_put(p);
	if (rc)
		return rc;
	*obj = t;
	*bytes = t->bytes;
	return 0;
}

/* @from: a profile's place; or that of a function, whose profile it was selected from.
 * @value: NULL, or the tree is of what comes after its functions */
static int get_tree(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *value,
		    struct browse_tree **out)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct making m = { a, from, tag, value };

	strbuf_printf(&key, "browse %s %zu %s\n", tag->name, value ? strlen(value) : 0,
		      value ? value : "");
	viewer_key(a->v, &key);
	tree_selection_key(from, &key);
	return ask_cached(a, &browse_cache, &key, make, &m, (void **)out);
}

/* ---- places */

static int place_at(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, struct browse_tree *t, uint32_t at,
		    struct place *to)
{
	int rc = place_init(to, PLACE_CALLS, from->cat, from->spec, from->sel, tag, NULL,
			    a->err);

	if (rc)
		return rc;
	to->browse = browse_tree_get(t);
	to->at = at;
	return 0;
}

/* What is below a function of through: is a tree of its own. */
static int descend(const struct ask *a, const struct place *p, struct browse_tree **t,
		   uint32_t *at)
{
	const struct browse_tree *of = p->browse;
	struct place base;
	int rc;

	*at = p->at;
	if (of->kind != BROWSE_THROUGH) {
		*t = browse_tree_get(p->browse);
		return 0;
	}
	rc = tree_browse_base(a, p, &base);
	if (rc)
		return rc;
	rc = get_tree(a, &base, p->tag, of->listed[of->nodes[p->at].name], t);
	place_fini(&base);
	*at = 0;
	return rc;
}

int tree_browse_child(const struct ask *a, const struct place *from, const char *name,
		      struct place *to)
{
	CLEANUP(put_tree) struct browse_tree *t = NULL;
	uint32_t at;
	int rc;

	if (is_ours((void *)(uintptr_t)a, name)) /* functions of such names are escaped */
		return -ENOENT;
	rc = descend(a, from, &t, &at);
	if (rc)
		return rc;
	at = browse_tree_child(t, at, name);
	return at ? place_at(a, from, from->tag, t, at, to) : -ENOENT;
}

/* The first function of a value; *rest: what follows. */
static int first_child(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, const char *name, struct place *to)
{
	CLEANUP(put_tree) struct browse_tree *t = NULL;
	int rc = get_tree(a, from, tag, NULL, &t);
	uint32_t at = rc ? 0 : browse_tree_child(t, 0, name);

	if (rc)
		return rc;
	return at ? place_at(a, from, tag, t, at, to) : -ENOENT;
}

/* Functions that each have their exact name.  -ENOENT without a message: not all have. */
static int exact_value(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, const char *raw, struct place *to)
{
	CLEANUP(free_ptr) char *copy = strdup(raw);
	char *rest = copy, *name;
	struct place at = { 0 };
	int rc = copy ? 0 : ask_no_memory(a);

	while (!rc && (name = strsep(&rest, "/"))) {
		struct place next;

		if (!*name)
			continue;
		rc = at.browse ? tree_browse_child(a, &at, name, &next)
			       : first_child(a, from, tag, name, &next);
		if (rc)
			break;
		place_fini(&at);
		at = next;
	}
	if (!rc && !at.browse)
		rc = -ENOENT;
	if (rc)
		place_fini(&at);
	else
		*to = at;
	return rc;
}

/* With lists and patterns. */
static int any_value(const struct ask *a, const struct place *from,
		     const struct spec_tag *tag, const char *raw, struct place *to)
{
	CLEANUP(put_tree) struct browse_tree *t = NULL;
	struct ask asked = *a;
	struct place slice;
	int rc;

	asked.empty = false;
	rc = tree_select_value(&asked, from, tag, raw, &slice);

	if (rc)
		return rc;
	if (!slice.value) { /* "all" */
		*to = slice;
		return 0;
	}
	place_fini(&slice);
	rc = get_tree(a, from, tag, raw, &t);
	return rc ? rc : place_at(a, from, tag, t, 0, to);
}

int tree_browse_value(const struct ask *a, const struct place *from,
		      const struct spec_tag *tag, const char *raw, struct place *to)
{
	int rc = exact_value(a, from, tag, raw, to);

	return rc == -ENOENT ? any_value(a, from, tag, raw, to) : rc;
}

int tree_browse_base(const struct ask *a, const struct place *from, struct place *to)
{
	return place_init(to, PLACE_PROFILE, from->cat, from->spec, from->sel, NULL, NULL,
			  a->err);
}

int tree_browse_close(const struct ask *a, const struct place *from, struct place *to)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	CLEANUP(spec_putp) struct spec *spec = NULL;
	int rc;

	browse_tree_path(from->browse, from->at, &path);
	if (strbuf_error(&path))
		return ask_no_memory(a);
	rc = spec_value_new(from->tag, path.data, false, &v, a->err);
	if (rc)
		return rc;
	spec = spec_with(from->spec, from->tag, v);
	sel = tree_selection_of(from->sel, place_samples(from));
	if (!spec || !sel)
		return ask_no_memory(a);
	return place_init(to, PLACE_PROFILE, from->cat, spec, sel, NULL, NULL, a->err);
}

/* ---- listings */

static int add_children(const struct ask *a, const struct browse_tree *t, uint32_t node,
			struct names *out)
{
	int rc = 0;

	for (uint32_t at = t->nodes[node].first; at && !rc; at = t->nodes[at].next)
		rc = names_add(out, t->listed[t->nodes[at].name]);
	return rc ? ask_no_memory(a) : 0;
}

int tree_browse_names(const struct ask *a, const struct place *p,
		      const struct spec_tag *tag, struct names *out)
{
	CLEANUP(put_tree) struct browse_tree *t = NULL;
	int rc = get_tree(a, p, tag, NULL, &t);

	return rc ? rc : add_children(a, t, 0, out);
}

int tree_browse_below(const struct ask *a, const struct place *p, struct names *out)
{
	CLEANUP(put_tree) struct browse_tree *t = NULL;
	uint32_t at;
	int rc = descend(a, p, &t, &at);

	return rc ? rc : add_children(a, t, at, out);
}

int tree_list_browse(const struct ask *a, const struct place *p, struct lister *l)
{
	CLEANUP(put_tree) struct browse_tree *t = NULL;
	uint32_t at;
	int rc = descend(a, p, &t, &at);

	for (at = rc ? 0 : t->nodes[at].first; at && !rc; at = t->nodes[at].next)
		rc = lister_add(l, t->listed[t->nodes[at].name], PLACE_CALLS);
	return rc;
}
