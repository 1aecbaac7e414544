/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/names.h"
#include "base/suggest.h"
#include "libspec/name/clock.h"
#include "libspec/name/glob.h"
#include "libspec/session/session.h"
#include "opfs/session/catalog_load.h"
#include "opfs/session/spans.h"
#include "opfs/tree/access.h"
#include "opfs/tree/others.h"
#include "opfs/tree/profiles.h"

/* Which sessions the beginning of a path means, by name or by time, and entering them. */

/* How often reading is tried while sessions are exchanged. */
enum { MAX_TRIES = 10 };

const struct root_entry tree_root_entries[TREE_ROOT_ENTRIES] = {
#define ROOT(name, kind) { name, PLACE_##kind },
#include "libspec/session/root_list.h"
#undef ROOT
};

const struct root_entry *tree_root_entry(const char *name)
{
	for (size_t i = 0; i < TREE_ROOT_ENTRIES; i++)
		if (!strcmp(name, tree_root_entries[i].name))
			return &tree_root_entries[i];
	return NULL;
}

void tree_listed_session(const char *name, struct strbuf *out)
{
	if (tree_root_entry(name)) {
		escape_put(out, (unsigned char)*name);
		name++;
	}
	spec_listed(name, false, name, out);
}

int tree_sessions(const struct tree *t, const struct viewer *v, struct names *out,
		  struct err *err)
{
	bool may_list = tree_may_use_samples(t, v, S_IROTH | S_IXOTH);
	struct names list = { 0 };
	int rc = spec_session_list(catalog_store_fd(t->store),
				   catalog_store_trusted(t->store), &list, err);

	if (rc == -ENOENT) /* nothing was recorded yet */
		rc = 0;
	if (!rc)
		rc = names_add(out, "current");
	for (size_t i = 0; i < list.len && !rc; i++)
		if (may_list && tree_may_see(t, list.data[i], v))
			rc = names_add(out, list.data[i]);
	names_fini(&list);
	names_sort(out);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory") : rc;
}

/* ---- by name */

/* To who may not search samples/ every name may be one. */
static bool exists(const struct tree *t, const char *session, const struct viewer *v)
{
	struct stat st;
	int rc;

	if (strchr(session, '/') || !strcmp(session, ".") || !strcmp(session, "..") ||
	    !*session)
		return false;
	if (!strcmp(session, "current") || !tree_may_use_samples(t, v, S_IXOTH))
		return true;
	rc = catalog_store_stat(t->store, session, NULL, &st);
	return !rc || rc == -ELOOP || rc == -EXDEV; /* entering it tells why not */
}

bool tree_has_session(const struct tree *t, const char *name)
{
	return exists(t, name, NULL);
}

static int not_yours(const struct ask *a, const char *session)
{
	struct stat st;
	int rc = 0;

	if (tree_may_use_samples(a->t, a->v, S_IXOTH))
		rc = catalog_store_stat(a->t->store, session, NULL, &st);
	return catalog_no_session(session, rc ? rc : -EACCES, a->err);
}

/* The sessions of the tree's directory that the viewer may see. */
static int load(const struct ask *a, const struct spec *spec, struct catalog **cat)
{
	int rc;

	for (size_t i = 0; i < spec->nr_sessions; i++)
		if (!tree_may_see(a->t, spec->sessions[i], a->v))
			return not_yours(a, spec->sessions[i]);
	rc = tree_catalog(a, NULL, spec, cat);
	for (size_t i = 0; !rc && i < (*cat)->nr_dirs; i++)
		if (!tree_may_see_opened(a->t, &(*cat)->dirs[i], a->v))
			rc = not_yours(a, spec->sessions[i]);
	return rc;
}

static void put_catalog(struct catalog **c)
{
	catalog_put(*c);
}

int tree_listed_sessions(const struct ask *a, struct names *out)
{
	CLEANUP(names_fini) struct names all = { 0 };
	int rc = tree_sessions(a->t, a->v, &all, a->err);

	for (size_t i = 0; i < all.len && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };

		tree_listed_session(all.data[i], &name);
		if (strbuf_error(&name) || names_add(out, name.data))
			rc = ask_no_memory(a);
	}
	return rc;
}

int tree_no_session(const struct ask *a, const char *typed)
{
	CLEANUP(names_fini) struct names all = { 0 };
	CLEANUP(strbuf_fini) struct strbuf list = { 0 };

	if (!tree_listed_sessions(a, &all))
		names_suggest(&all, typed, &list);
	return err_set(a->err, -ENOENT, "no session \"%.100s\" in %.100s; there are: %s",
		       typed, catalog_store_path(a->t->store), strbuf_str(&list));
}

/* Appends the sessions that an item of a list means. */
static int add_matching(const struct ask *a, const struct names *all,
			const struct spec_item *item, struct names *out)
{
	size_t before = out->len;
	int rc = 0;

	if (!item->all && exists(a->t, item->text, a->v))
		return names_add(out, item->text);
	for (size_t i = 0; i < all->len && !rc; i++)
		if (item->all || (item->glob && spec_glob(item->pattern, all->data[i])))
			rc = names_add(out, all->data[i]);
	if (!rc && out->len == before)
		return tree_no_session(a, item->text);
	return rc;
}

/* The name of a session as typed or as listed; NULL: there is none. */
char *tree_one_session(const struct tree *t, const char *raw, const struct viewer *v)
{
	CLEANUP(names_fini) struct names all = { 0 };
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (exists(t, raw, v) && !strchr(raw, '%'))
		return strdup(raw);
	spec_decode(raw, &text);
	if (!strbuf_error(&text) && strlen(strbuf_str(&text)) == text.len &&
	    exists(t, strbuf_str(&text), v))
		return strbuf_take(&text);
	if (!spec_listed_cut(raw) || tree_sessions(t, v, &all, NULL))
		return NULL;
	for (size_t i = 0; i < all.len; i++) {
		strbuf_reset(&text);
		tree_listed_session(all.data[i], &text);
		if (!strcmp(strbuf_str(&text), raw))
			return strdup(all.data[i]);
	}
	return NULL;
}

static void free_list(struct spans_list *l)
{
	spans_list_fini(l);
}

/* Spans of time and names can be mixed: session:last:1h. */
static int resolve(const struct ask *a, const struct spec *spec, bool anew,
		   struct spans_list *list, struct names *out);

/* A specification of nothing but a span, whose sessions are not known yet. */
static int span_spec(const struct ask *a, const struct spec_tag *tag, const char *raw,
		     struct spec **out)
{
	CLEANUP(spec_value_putp) struct spec_value *value = NULL;
	CLEANUP(spec_putp) struct spec *empty = NULL;
	char *current[] = { (char *)"current" };
	int rc = spec_value_new(tag, raw, true, &value, a->err);

	if (rc)
		return rc;
	empty = spec_new(current, 1);
	*out = empty ? spec_with(empty, tag, value) : NULL;
	return *out ? 0 : ask_no_memory(a);
}

static int span_list(const struct ask *a, const struct spec_tag *tag, const char *raw,
		     struct names *out)
{
	CLEANUP(free_list) struct spans_list list = { 0 };
	CLEANUP(spec_putp) struct spec *spec = NULL;
	int rc = span_spec(a, tag, raw, &spec);

	return rc ? rc : resolve(a, spec, false, &list, out);
}

int tree_session_list(const struct ask *a, const char *raw, struct names *out)
{
	CLEANUP(spec_items_fini) struct spec_items items = { 0 };
	CLEANUP(free_ptr) char *one = tree_one_session(a->t, raw, a->v);
	CLEANUP(names_fini) struct names all = { 0 };
	struct spec_word word;
	int rc;

	if (one)
		return names_add(out, one);
	if (spec_word_parse(raw, strlen(raw), &word) && word.value &&
	    word.tag->kind == SPEC_TAG_SPAN)
		return span_list(a, word.tag, word.value, out);
	rc = spec_items_parse(raw, &items, a->err);
	rc = rc ? rc : tree_sessions(a->t, a->v, &all, a->err);
	for (size_t i = 0; i < items.nr && !rc; i++)
		rc = add_matching(a, &all, &items.items[i], out);
	names_sort(out);
	return !rc && !out->len ? tree_no_session(a, raw) : rc;
}

/* ---- by time: the sum of the sessions that overlap a span */

/* Does the viewer get to know when the session was? */
static bool is_shown(const struct ask *a, const struct spans_row *row)
{
	return row->dated && tree_may_see(a->t, row->name, a->v);
}

/* If nothing overlaps the span, says which sessions there are. */
static int none_overlaps(const struct ask *a, const struct spec_tag *tag, const char *raw,
			 const struct spans_list *l)
{
	CLEANUP(strbuf_fini) struct strbuf known = { 0 };
	struct spec_span all = { UINT64_MAX, 0 };
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct spec_span *s = &l->rows[i].when.span;

		if (!is_shown(a, &l->rows[i]))
			continue;
		nr++;
		all.from_ns = s->from_ns < all.from_ns ? s->from_ns : all.from_ns;
		all.to_ns = s->to_ns > all.to_ns ? s->to_ns : all.to_ns;
	}
	if (!nr)
		return err_set(
			a->err, -ENOENT,
			"%s:%.60s: no session tells when it was (those of OProfile "
			"do not)",
			tag->name, raw);
	spec_span_show(&all, &known);
	return err_set(a->err, -ENOENT,
		       "%s:%.60s: no session overlaps it; there are %zu, from %s",
		       tag->name, raw, nr, strbuf_str(&known));
}

static int pick(const struct ask *a, const struct spans_list *l,
		const struct spec_span *want, const struct names *excluded,
		struct names *out)
{
	int rc = 0;

	for (size_t i = 0; i < l->nr && !rc; i++) {
		const struct spans_row *row = &l->rows[i];

		if (row->dated && spec_span_overlap(&row->when.span, want) &&
		    !names_has(excluded, row->name) &&
		    tree_may_see(a->t, row->name, a->v))
			rc = names_add(out, row->name);
	}
	return rc ? err_set(a->err, rc, "out of memory") : 0;
}

/* The sessions that the span of @spec means now.  @list: all there are. */
static int resolve(const struct ask *a, const struct spec *spec, bool anew,
		   struct spans_list *list, struct names *out)
{
	const struct spec_value *without = spec->values[SPEC_SESSION_EXCLUDE];
	const struct spec_tag *tag = spec_span_tag(spec);
	CLEANUP(names_fini) struct names excluded = { 0 };
	uint64_t now = clock_real_ns();
	struct spec_span want;
	int rc = spec_span_parse(tag, spec->values[tag->id]->text, now, &want, a->err);

	rc = rc ? rc
		: spans_get(a->t->spans, now, anew, viewer_quick(a->v), list, a->err);
	if (!rc && without) /* those that have gone since are left out already */
		rc = tree_session_list(a, without->raw, &excluded);
	if (rc == -ENOENT)
		rc = 0;
	rc = rc ? rc : pick(a, list, &want, &excluded, out);
	if (!rc && !out->len)
		rc = none_overlaps(a, tag, spec->values[tag->id]->raw, list);
	return rc;
}

int tree_span_now(const struct ask *a, const struct spec *spec, struct spec **out)
{
	CLEANUP(free_list) struct spans_list list = { 0 };
	CLEANUP(names_fini) struct names sessions = { 0 };
	int rc = resolve(a, spec, false, &list, &sessions);

	if (rc)
		return rc;
	*out = spec_with_sessions(spec, sessions.data, sessions.len);
	return *out ? 0 : ask_no_memory(a);
}

/* ---- entering them */

int tree_enter_in(const struct ask *a, const char *dir, const struct spec *spec,
		  struct place *to)
{
	CLEANUP(spec_putp) struct spec *copy = spec_with(spec, NULL, NULL);
	CLEANUP(selection_putp) struct selection *sel = NULL;
	CLEANUP(put_catalog) struct catalog *cat = NULL;
	int rc;

	if (!copy)
		return ask_no_memory(a);
	rc = dir ? tree_catalog(a, dir, spec, &cat) : load(a, spec, &cat);
	rc = rc ? rc : tree_select(a, cat, copy, NULL, NULL, &sel);
	if (rc)
		return rc;
	if (place_narrows(spec) && !ask_selects(a, sel))
		return err_set(a->err, -ENOENT, "selects nothing any more");
	return place_init(to, PLACE_PROFILE, cat, copy, sel, NULL, NULL, a->err);
}

int tree_enter_sessions(const struct ask *a, char *const *names, size_t nr,
			struct place *to)
{
	CLEANUP(spec_putp) struct spec *spec = spec_new(names, nr);
	int rc = spec ? tree_enter_in(a, NULL, spec, to) : ask_no_memory(a);

	if (!rc)
		to->listed = true;
	return rc;
}

int tree_session_value(const struct ask *a, const char *raw, struct place *to)
{
	CLEANUP(names_fini) struct names list = { 0 };
	int rc = tree_session_list(a, raw, &list);

	return rc ? rc : tree_enter_sessions(a, list.data, list.len, to);
}

static const struct spans_row *row_of(const struct spans_list *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->rows[i].name, name))
			return &l->rows[i];
	return NULL;
}

/* Are the sessions that were read those that were listed: none rotated meanwhile? */
static bool is_same(const struct catalog *cat, const struct spans_list *l)
{
	for (size_t i = 0; i < cat->nr_dirs; i++) {
		const struct spans_row *row = row_of(l, cat->dirs[i].session);

		if (!row || row->dev != cat->dirs[i].dev || row->ino != cat->dirs[i].ino)
			return false;
	}
	return true;
}

static int try_enter(const struct ask *a, const struct spec *spec, bool anew, bool *same,
		     struct place *to)
{
	CLEANUP(free_list) struct spans_list list = { 0 };
	CLEANUP(names_fini) struct names sessions = { 0 };
	CLEANUP(spec_putp) struct spec *now = NULL;
	int rc = resolve(a, spec, anew, &list, &sessions);

	*same = true;
	if (rc)
		return rc;
	now = spec_with_sessions(spec, sessions.data, sessions.len);
	rc = now ? tree_enter_in(a, NULL, now, to) : ask_no_memory(a);
	if (rc == -ENOENT && !anew) { /* removed since it was listed? */
		*same = false;
		return 0;
	}
	if (!rc)
		*same = is_same(to->cat, &list);
	if (!rc && !*same) {
		catalog_store_doubt(a->t->store, to->cat);
		place_fini(to);
	}
	return rc;
}

int tree_span_enter(const struct ask *a, const struct spec *spec, struct place *to)
{
	bool same;

	for (int i = 0; i < MAX_TRIES; i++) {
		int rc = try_enter(a, spec, i > 0, &same, to);

		if (rc || same)
			return rc;
	}
	return err_set(a->err, -EBUSY,
		       "sessions are rotated faster than they can be read: ask for a "
		       "shorter time, or rotate less often");
}

int tree_span_value(const struct ask *a, const struct spec_tag *tag, const char *raw,
		    struct place *to)
{
	CLEANUP(spec_putp) struct spec *spec = NULL;
	int rc = span_spec(a, tag, raw, &spec);

	rc = rc ? rc : tree_span_enter(a, spec, to);
	if (!rc)
		to->listed = true;
	return rc;
}

int tree_session_exclude(const struct ask *a, const struct place *from, const char *raw,
			 struct place *to)
{
	const struct spec_tag *tag = &spec_tags[SPEC_SESSION_EXCLUDE];
	CLEANUP(spec_value_putp) struct spec_value *value = NULL;
	CLEANUP(names_fini) struct names out = { 0 }, kept = { 0 };
	CLEANUP(spec_putp) struct spec *all = NULL;
	CLEANUP(spec_putp) struct spec *less = NULL;
	int rc = tree_session_list(a, raw, &out);

	for (size_t i = 0; i < from->spec->nr_sessions && !rc; i++)
		if (!names_has(&out, from->spec->sessions[i]))
			rc = names_add(&kept, from->spec->sessions[i]);
	if (!rc && !kept.len)
		rc = err_set(a->err, -ENOENT, "session-exclude:%.100s leaves no session",
			     raw);
	rc = rc ? rc : spec_value_new(tag, raw, false, &value, a->err);
	if (rc)
		return rc;
	all = spec_with(from->spec, tag, value);
	less = all ? spec_with_sessions(all, kept.data, kept.len) : NULL;
	if (!less)
		return ask_no_memory(a);
	return spec_span_tag(less) ? tree_span_enter(a, less, to)
				   : tree_enter_in(a, NULL, less, to);
}

/* ---- values worth listing */

static const char *const ages[] = { "10s", "1m", "10m", "1h", "1d" };

/* Ages that cover at least one session. */
static int age_names(const struct ask *a, const struct spec_tag *tag,
		     const struct spans_list *list, uint64_t now, struct names *out)
{
	int rc = 0;

	for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]) && !rc; i++) {
		struct spec_span want;
		bool any = false;

		rc = spec_span_parse(tag, ages[i], now, &want, a->err);
		for (size_t r = 0; r < list->nr && !any && !rc; r++)
			any = is_shown(a, &list->rows[r]) &&
			      spec_span_overlap(&list->rows[r].when.span, &want);
		if (any)
			rc = names_add(out, ages[i]);
	}
	return rc;
}

/* The spans of the sessions, in whole seconds. */
static int span_names(const struct ask *a, const struct spans_list *list,
		      struct names *out)
{
	int rc = 0;

	for (size_t i = 0; i < list->nr && !rc; i++) {
		CLEANUP(strbuf_fini) struct strbuf name = { 0 };
		const struct spec_span *s = &list->rows[i].when.span;

		if (!is_shown(a, &list->rows[i]))
			continue;
		spec_clock_utc(s->from_ns / SPEC_NS_PER_S * SPEC_NS_PER_S, &name);
		strbuf_puts(&name, "..");
		spec_clock_utc(s->to_ns / SPEC_NS_PER_S * SPEC_NS_PER_S, &name);
		rc = strbuf_error(&name) ? -ENOMEM : names_add(out, name.data);
	}
	names_sort(out);
	return rc;
}

int tree_span_names(const struct ask *a, const struct spec_tag *tag, struct names *out)
{
	CLEANUP(free_list) struct spans_list list = { 0 };
	uint64_t now = clock_real_ns();
	int rc = spans_get(a->t->spans, now, false, viewer_quick(a->v), &list, a->err);

	if (rc)
		return rc;
	rc = tag->id == SPEC_LAST ? age_names(a, tag, &list, now, out)
				  : span_names(a, &list, out);
	return rc == -ENOMEM ? err_set(a->err, rc, "out of memory") : rc;
}
