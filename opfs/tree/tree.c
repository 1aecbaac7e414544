/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/session/spans.h"
#include "opfs/tree/ask.h"
#include "opfs/tree/browse.h"
#include "opfs/tree/browse_tree.h"
#include "opfs/tree/diff.h"
#include "opfs/tree/entries.h"
#include "opfs/tree/events.h"
#include "opfs/tree/list.h"
#include "opfs/tree/others.h"
#include "opfs/tree/profiles.h"
#include "opfs/tree/reason.h"
#include "opfs/tree/remember.h"
#include "opfs/tree/root.h"
#include "opfs/tree/root_text.h"
#include "opfs/tree/sessions.h"
#include "opfs/tree/step.h"
#include "opfs/tree/tag.h"
#include "opfs/tree/text.h"

/* ---- the tree */

int tree_new(const struct tree_options *o, struct tree **out, struct err *err)
{
	struct tree *t = calloc(1, sizeof(*t));
	bool failed = false;
	int rc;

	if (!t)
		return err_set(err, -ENOMEM, "out of memory");
	t->o = *o;
	t->o.session_dir = place_text(o->session_dir, &failed);
	t->o.mountpoint = place_text(o->mountpoint, &failed);
	t->o.about = place_text(o->about, &failed);
	tree_others_init(&t->others);
	t->server = sym_server_new(
		&(struct sym_server_options){ .remembers = true, .fair = o->shared });
	t->cache = cache_new(o->cache_bytes);
	t->syms = t->server && t->cache ? sym_cache_new(t->server, t->cache) : NULL;
	t->reasons = reasons_new();
	t->resolver = t->server ? resolver_new(t->server) : NULL;
	if (failed || !t->syms || !t->reasons || !t->resolver)
		rc = err_set(err, -ENOMEM, "out of memory");
	else
		rc = catalog_store_new(o->session_dir, o->shared ? &o->owner : NULL,
				       &t->store, err);
	if (!rc) {
		t->spans = spans_new(catalog_store_fd(t->store),
				     catalog_store_trusted(t->store));
		rc = t->spans ? 0 : err_set(err, -ENOMEM, "out of memory");
	}
	if (rc)
		tree_free(t);
	else
		*out = t;
	return rc;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	cache_free(t->cache);
	sym_cache_free(t->syms);
	sym_server_free(t->server);
	catalog_store_free(t->store);
	tree_others_fini(&t->others);
	reasons_free(t->reasons);
	resolver_free(t->resolver);
	spans_free(t->spans);
	free((char *)t->o.session_dir);
	free((char *)t->o.mountpoint);
	free((char *)t->o.about);
	free(t);
}

void tree_tell(struct tree *t, uid_t uid, const char *why)
{
	reasons_add(t->reasons, uid, why);
}

void tree_forget(struct tree *t, const char *session)
{
	catalog_store_forget(t->store, session);
	tree_forget_profiles(t, session);
}

struct cache *tree_cache(struct tree *t)
{
	return t->cache;
}

/* ---- steps */

/* What can be done with a place of each kind; NULL: nothing. */
static const struct place_ops {
	int (*step)(const struct ask *a, const struct place *from, const char *name,
		    struct place *to);
	int (*list)(const struct ask *a, const struct place *p, struct lister *l);
	int (*text)(const struct ask *a, const struct place *p, struct text **out);
} ops[] = {
	[PLACE_ROOT] = { .step = tree_step_root, .list = tree_list_root },
	[PLACE_PROFILE] = { .step = tree_step_profile, .list = tree_list_profile },
	[PLACE_CALLS] = { .step = tree_step_browse, .list = tree_list_browse },
	[PLACE_VALUES] = { .step = tree_step_values, .list = tree_list_values },
	[PLACE_PREFIX] = { .step = tree_step_prefix, .list = tree_list_values },
	[PLACE_MORE] = { .step = tree_step_more, .list = tree_list_more },
	[PLACE_ENTRIES] = { .step = tree_step_entries, .list = tree_list_entries },
	[PLACE_EVENTS] = { .step = tree_step_events, .list = tree_list_events },
	[PLACE_FILE] = { .text = tree_report_text },
	[PLACE_ROOT_FILE] = { .text = tree_root_text },
	[PLACE_EVENT_FILE] = { .text = tree_events_text },
	[PLACE_LINK] = { 0 },
};

static int step(const struct ask *a, const struct place *from, const char *name,
		struct place *to)
{
	int rc = ops[from->kind].step
			 ? ops[from->kind].step(a, from, name, to)
			 : err_set(a->err, -ENOTDIR,
				   "not a directory: nothing is below a file");

	/* the operations leave the older side to this */
	if (!rc && from->base && !to->base)
		to->base = place_base_get(from->base);
	return rc;
}

/* The component as text; NULL if it cannot be one. */
static char *component(const char *name, size_t len)
{
	if (!len || memchr(name, '\0', len) || memchr(name, '/', len) ||
	    (len <= 2 && !memcmp(name, "..", len)))
		return NULL;
	return strndup(name, len);
}

int tree_step(struct tree *t, const struct place *from, const char *name, size_t len,
	      const struct viewer *v, struct place *to, struct err *err)
{
	CLEANUP(free_ptr) char *word = component(name, len);
	struct err why = { 0 };
	struct ask a = { .t = t,
			 .v = v,
			 .err = &why,
			 .probe = reasons_is_probe(name, len),
			 .explain = tree_no_value };
	int rc;

	if (word)
		rc = step(&a, from, word, to);
	else
		rc = err_set(&why, -ENOENT, "not a name");
	if (rc && rc != -EINTR && rc != -EAGAIN && word && !a.probe)
		tree_remember(t, from, word, v, &why);
	if (rc && err)
		*err = why;
	return rc;
}

bool tree_is_probe(const char *name, size_t len)
{
	return reasons_is_probe(name, len);
}

/* The tag that @name gives a value, or NULL. */
static const struct spec_tag *tag_of(const struct place *from, const char *name,
				     size_t len)
{
	struct spec_word word;

	if (from->kind == PLACE_VALUES || from->kind == PLACE_PREFIX ||
	    from->kind == PLACE_CALLS)
		return from->tag;
	if (from->kind != PLACE_ROOT && from->kind != PLACE_PROFILE)
		return NULL;
	return spec_word_parse(name, len, &word) && word.value ? word.tag : NULL;
}

bool tree_tag_differs(const struct spec_tag *tag)
{
	return tag->id == SPEC_SYMBOL || tag->id == SPEC_SESSION_EXCLUDE ||
	       tag->kind == SPEC_TAG_FRAMES || tag->kind == SPEC_TAG_TASKS ||
	       tag->kind == SPEC_TAG_SPAN || tag->kind == SPEC_TAG_DIFF;
}

struct tree_hint tree_hint(const struct place *from, const char *name, size_t len)
{
	const struct spec_tag *tag = tag_of(from, name, len);
	bool root = from->kind == PLACE_ROOT && !tree_root_entry(name);
	bool outside = tag && (tag->id == SPEC_SYMBOL || tag->kind == SPEC_TAG_IMAGES ||
			       tag->kind == SPEC_TAG_FRAMES);
	bool sessions =
		tag && (tag->id == SPEC_SESSION || tag->id == SPEC_SESSION_EXCLUDE ||
			tag->kind == SPEC_TAG_SPAN);

	return (struct tree_hint){
		.slow = root || outside || sessions,
		.personal = outside || sessions || (tag && tree_tag_differs(tag)),
	};
}

static int walk_from(struct tree *t, struct place *at, const char *path,
		     const struct viewer *v, size_t *bad, struct err *err);

/* Moves @at by one component, through a link if it is one: it leads from the directory
 * that lists it. */
static int walk_step(struct tree *t, struct place *at, const char *name, size_t len,
		     const struct viewer *v, struct err *err)
{
	struct place next;
	int rc = tree_step(t, at, name, len, v, &next, err);

	if (rc)
		return rc;
	if (next.kind == PLACE_LINK) {
		rc = walk_from(t, at, next.target, v, NULL, err);
		place_fini(&next);
		return rc;
	}
	place_fini(at);
	*at = next;
	return 0;
}

/* Moves @at along @path.  *bad: where in it the component is that leads nowhere. */
static int walk_from(struct tree *t, struct place *at, const char *path,
		     const struct viewer *v, size_t *bad, struct err *err)
{
	int rc = 0;

	for (size_t off = 0; !rc && path[off];) {
		size_t len = strcspn(path + off, "/");

		if (len && !(len == 1 && path[off] == '.')) {
			rc = walk_step(t, at, path + off, len, v, err);
			if (rc && bad)
				*bad = off;
		}
		off += len + (path[off + len] == '/');
	}
	return rc;
}

int tree_walk(struct tree *t, const char *path, const struct viewer *v, struct place *out,
	      size_t *bad, struct err *err)
{
	struct place at;
	int rc;

	place_root(&at);
	rc = walk_from(t, &at, path, v, bad, err);
	if (rc)
		place_fini(&at);
	else
		*out = at;
	return rc;
}

/* ---- freshness */

/* @p at its newest generation, but for its base. */
static int refreshed_side(const struct ask *a, const struct place *p, const char *dir,
			  struct place *to)
{
	struct place base;
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	int rc = spec_span_tag(p->spec) ? tree_span_enter(a, p->spec, &base)
					: tree_enter_in(a, dir, p->spec, &base);

	if (rc)
		return rc;
	if (p->browse) {
		browse_tree_path(p->browse, p->at, &path);
		rc = strbuf_error(&path)
			     ? ask_no_memory(a)
			     : tree_browse_value(a, &base, p->tag, path.data, to);
		place_fini(&base);
		return rc;
	}
	if (!p->of_base && p->value) {
		rc = tree_value(a, &base, p->tag, p->value, to);
		place_fini(&base);
		return rc;
	}
	base.kind = p->kind;
	base.tag = p->tag;
	base.report = p->report;
	*to = base;
	return 0;
}

static int refreshed(const struct ask *a, const struct place *p, struct place *to)
{
	struct place_base *base = NULL;
	struct place side;
	bool failed = false;
	int rc = refreshed_side(a, p, NULL, to);

	if (rc)
		return rc;
	if (p->base) {
		rc = refreshed_side(a, &p->base->p, p->base->dir, &side);
		rc = rc ? rc
			: place_base_new(p->base, &side, p->base->given, &base, a->err);
	}
	to->base = base;
	to->of_base = p->of_base;
	to->entry = place_text(p->entry, &failed);
	if (p->of_base && p->value)
		to->value = place_text(p->value, &failed);
	if (failed)
		rc = ask_no_memory(a);
	if (!rc && p->kind == PLACE_ENTRIES)
		rc = tree_has_entry(a, to);
	if (rc)
		place_fini(to);
	return rc;
}

static bool same_sessions(const struct spec *a, const struct spec *b)
{
	for (size_t i = 0; i < a->nr_sessions && i < b->nr_sessions; i++)
		if (strcmp(a->sessions[i], b->sessions[i]) != 0)
			return false;
	return a->nr_sessions == b->nr_sessions;
}

/* Is @p, but for its base, of the newest generation?  -EAGAIN if the viewer is quick and
 * it would take time to tell. */
static int is_newest(const struct ask *a, const struct place *p, const char *dir,
		     bool *is)
{
	CLEANUP(spec_putp) struct spec *spec = NULL;
	struct catalog *now;
	int rc = spec_span_tag(p->spec) ? tree_span_now(a, p->spec, &spec) : 0;

	*is = !rc && (!spec || same_sessions(spec, p->spec));
	if (rc || !*is)
		return rc;
	rc = tree_catalog(a, dir, p->spec, &now);
	if (rc)
		return rc;
	*is = now == p->cat;
	catalog_put(now);
	return 0;
}

static int both_newest(const struct ask *a, const struct place *p, bool *are)
{
	int rc = is_newest(a, p, NULL, are);

	if (!rc && *are && p->base)
		rc = is_newest(a, &p->base->p, p->base->dir, are);
	return rc;
}

int tree_refresh(struct tree *t, struct place *p, const struct viewer *v, struct err *err)
{
	struct ask a = {
		.t = t, .v = v, .err = err, .empty = p->base, .explain = tree_no_value
	};
	struct place fresh;
	bool newest;
	int rc;

	if (!p->cat || p->kind == PLACE_LINK)
		return 0;
	rc = both_newest(&a, p, &newest);
	if (rc || newest)
		return rc;
	if (viewer_quick(v))
		return -EAGAIN;
	rc = refreshed(&a, p, &fresh);
	if (rc)
		return rc;
	fresh.listed = p->listed;
	place_fini(p);
	*p = fresh;
	return 0;
}

/* ---- what a place shows */

int tree_list(struct tree *t, const struct place *p, const struct viewer *v,
	      int (*emit)(void *ctx, const struct tree_entry *e), void *ctx,
	      struct err *err)
{
	struct err ignored = { 0 };
	struct ask a = { .t = t, .v = v, .err = err ? err : &ignored };
	struct lister l = { .emit = emit, .ctx = ctx };

	return ops[p->kind].list ? ops[p->kind].list(&a, p, &l)
				 : err_set(err, -ENOTDIR, "not a directory");
}

int tree_text(struct tree *t, const struct place *p, const struct viewer *v,
	      struct text **out, struct err *err)
{
	struct err ignored = { 0 };
	struct ask a = { .t = t, .v = v, .err = err ? err : &ignored };

	if (!ops[p->kind].text)
		return err_set(err, -EISDIR, "is a directory");
	return viewer_quick(v) ? -EAGAIN : ops[p->kind].text(&a, p, out);
}

int tree_write(struct tree *t, const struct place *p, const struct viewer *v,
	       struct strbuf_sink *sink, struct err *err)
{
	struct ask a = { .t = t, .v = v, .err = err };

	if (p->kind != PLACE_FILE || !p->report->render)
		return -ENOTSUP;
	return tree_report_write(&a, p, sink);
}

void tree_key(const struct place *p, struct strbuf *out)
{
	if (p->spec)
		place_format(p, out);
	if (p->tag && !p->browse)
		strbuf_printf(out, "/%s:%s", p->tag->name, p->value ? p->value : "");
	if (p->of_base)
		strbuf_puts(out, "/diff");
	if (p->kind == PLACE_MORE)
		strbuf_puts(out, "/more:");
	if (p->event)
		strbuf_printf(out, "/events/%s", p->event);
	if (p->report)
		strbuf_printf(out, "/%s", p->report->name);
	if (p->entry)
		strbuf_printf(out, "/%s", p->entry);
	if (p->file)
		strbuf_printf(out, "/%s", p->file);
	if (place_is_file(p))
		strbuf_printf(out, "@%llu", (unsigned long long)place_generation(p));
	if (p->target)
		strbuf_printf(out, "->%s", p->target);
	if (p->listed)
		strbuf_putc(out, '+');
}
