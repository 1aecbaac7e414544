/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/spans.h"
#include "opfs/tree_impl.h"

/* ---- the tree */

char *tree_copy(const char *s, bool *failed)
{
	char *copy = s ? strdup(s) : NULL;

	*failed |= s && !copy;
	return copy;
}

int tree_new(const struct tree_options *o, struct tree **out, struct err *err)
{
	struct tree *t = calloc(1, sizeof(*t));
	bool failed = false;
	int rc;

	if (!t)
		return err_set(err, -ENOMEM, "out of memory");
	t->o = *o;
	t->o.session_dir = tree_copy(o->session_dir, &failed);
	t->o.mountpoint = tree_copy(o->mountpoint, &failed);
	t->o.about = tree_copy(o->about, &failed);
	tree_others_init(&t->others);
	t->server = sym_server_new(NULL);
	t->syms = t->server ? sym_cache_new(t->server, o->cache_bytes / 2) : NULL;
	t->cache = cache_new(o->cache_bytes / 2);
	t->reasons = reasons_new();
	t->resolver = resolver_new(o->mountpoint);
	t->spans = spans_new();
	if (failed || !t->syms || !t->cache || !t->reasons || !t->resolver ||
	    !t->spans)
		rc = err_set(err, -ENOMEM, "out of memory");
	else
		rc = catalog_store_new(o->session_dir, &t->store, err);
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
	if (t->syms)
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

/* ---- steps */

static int step(const struct ask *a, const struct place *from, const char *name,
		struct place *to)
{
	int rc;

	if (from->kind == PLACE_FILE || from->kind == PLACE_LINK)
		return err_set(a->err, -ENOTDIR, "not a directory");
	if (from->kind == PLACE_ROOT)
		return tree_step_root(a, name, to);
	if (from->kind == PLACE_ENTRIES)
		return tree_step_entries(a, from, name, to);
	if (from->kind == PLACE_EVENTS)
		return tree_step_events(a, from, name, to);
	rc = tree_step_below(a, from, name, to);
	/* who made the place did not ask whether there is an older side */
	if (!rc && from->base && !to->base)
		to->base = tree_base_get(from->base);
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

void tree_remember(struct tree *t, const struct place *from, const char *name,
		   const struct viewer *v, const struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (from->spec) {
		tree_format(from, &text);
		strbuf_putc(&text, '/');
	}
	if (from->kind == PLACE_VALUES || from->kind == PLACE_PREFIX) {
		strbuf_printf(&text, "%s%s%s", from->tag->name,
			      *from->tag->name ? ":" : "",
			      from->value ? from->value : "");
		strbuf_putc(&text, '/');
	}
	if (from->kind == PLACE_EVENTS)
		strbuf_printf(&text, "events/%s%s", from->entry, *from->entry ? "/" : "");
	if (!name)
		name = from->report->name;
	strbuf_printf(&text, "%s: %s", name, err->msg);
	reasons_add(t->reasons, v ? v->uid : 0, strbuf_str(&text));
}

int tree_step(struct tree *t, const struct place *from, const char *name, size_t len,
	      const struct viewer *v, struct place *to, struct err *err)
{
	CLEANUP(free_ptr) char *word = component(name, len);
	struct err why = { 0 };
	struct ask a = {
		.t = t, .v = v, .err = &why, .probe = reasons_is_probe(name, len)
	};
	int rc;

	if (word)
		rc = step(&a, from, word, to);
	else
		rc = err_set(&why, -ENOENT, "not a name");
	if (rc && rc != -EINTR && word && !a.probe)
		tree_remember(t, from, word, v, &why);
	if (rc && err)
		*err = why;
	return rc;
}

bool tree_is_probe(const char *name, size_t len)
{
	return reasons_is_probe(name, len);
}

/* Where a link leads from the directory that lists it. */
static int follow(struct tree *t, const struct place *dir, const char *target,
		  const struct viewer *v, struct place *out, struct err *err)
{
	struct place at;
	int rc = place_copy(dir, &at);

	if (rc)
		return err_set(err, rc, "out of memory");
	while (*target && !rc) {
		size_t len = strcspn(target, "/");
		struct place next;

		rc = tree_step(t, &at, target, len, v, &next, err);
		place_fini(&at);
		if (!rc)
			at = next;
		target += len + (target[len] == '/');
	}
	if (!rc)
		*out = at;
	return rc;
}

/* One component, through a link if it is one.  @at moves. */
static int walk_step(struct tree *t, struct place *at, const char *name, size_t len,
		     const struct viewer *v, struct err *err)
{
	struct place next, there;
	int rc = tree_step(t, at, name, len, v, &next, err);

	if (rc)
		return rc;
	if (next.kind == PLACE_LINK) {
		rc = follow(t, at, next.target, v, &there, err);
		place_fini(&next);
		if (rc)
			return rc;
		next = there;
	}
	place_fini(at);
	*at = next;
	return 0;
}

int tree_walk(struct tree *t, const char *path, const struct viewer *v, struct place *out,
	      size_t *bad, struct err *err)
{
	struct place at;
	int rc = tree_root(t, &at);

	for (size_t off = 0; !rc && path[off];) {
		size_t len = strcspn(path + off, "/");

		if (len && !(len == 1 && path[off] == '.')) {
			rc = walk_step(t, &at, path + off, len, v, err);
			if (rc && bad)
				*bad = off;
		}
		off += len + (path[off + len] == '/');
	}
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
	int rc = spec_span_tag(p->spec) ? tree_span_enter(a, p->spec, &base)
					: tree_enter_in(a, dir, p->spec, &base);

	if (rc)
		return rc;
	if (!p->of_base &&
	    (p->kind == PLACE_PREFIX || (p->kind == PLACE_PROFILE && p->tag))) {
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
			: tree_base_new(p->base, &side, p->base->given, &base, a->err);
	}
	to->base = base;
	to->of_base = p->of_base;
	to->entry = tree_copy(p->entry, &failed);
	if (p->of_base && p->value)
		to->value = tree_copy(p->value, &failed);
	if (failed)
		rc = err_set(a->err, -ENOMEM, "out of memory");
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

/* Is @p, but for its base, of the newest generation?  -EAGAIN if a->quick and it would
 * take time to tell. */
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
	struct ask a = { .t = t, .v = v, .err = err };
	struct place fresh;
	bool newest;
	int rc;

	if (!p->cat || p->kind == PLACE_LINK)
		return 0;
	rc = both_newest(&a, p, &newest);
	if (rc || newest)
		return rc;
	rc = refreshed(&a, p, &fresh);
	if (rc)
		return rc;
	fresh.listed = p->listed;
	place_fini(p);
	*p = fresh;
	return 0;
}

static bool needs_symbols(const struct place *p)
{
	return p->spec->values[SPEC_SYMBOL] ||
	       (p->tag && p->tag->kind == SPEC_TAG_SYMBOL) ||
	       (p->base && needs_symbols(&p->base->p));
}

static bool list_is_quick(struct tree *t, const struct place *p)
{
	struct err ignored = { 0 };
	struct ask a = { .t = t, .quick = true, .err = &ignored };
	bool newest;

	if (!p->cat || p->kind == PLACE_LINK || p->kind == PLACE_FILE)
		return true;
	return !needs_symbols(p) && tree_lists_quickly(&a, p) &&
	       !both_newest(&a, p, &newest) && newest;
}

bool tree_quick(struct tree *t, const struct place *p, const char *name, size_t len)
{
	CLEANUP(free_ptr) char *word = component(name, len);
	struct err err = { 0 };
	struct ask a = {
		.t = t, .quick = true, .err = &err, .probe = reasons_is_probe(name, len)
	};
	struct place to;
	int rc;

	if (!len)
		return list_is_quick(t, p);
	if (!word)
		return true;
	rc = step(&a, p, word, &to);
	if (!rc)
		place_fini(&to);
	return rc != -EAGAIN;
}

/* ---- what a place shows */

uint64_t tree_samples(const struct place *p)
{
	return p->sel ? p->sel->samples : 0;
}

uint64_t tree_session_samples(const struct place *p)
{
	return p->cat ? p->cat->total : 0;
}

uint64_t tree_mtime_ns(const struct place *p)
{
	return p->cat ? p->cat->drained_ns : 0;
}

static bool same_task(const struct spec_task *a, const struct spec_task *b)
{
	return a->tgid == b->tgid && a->start_ns == b->start_ns &&
	       !strcmp(a->comm ? a->comm : "", b->comm ? b->comm : "");
}

const struct spec_task *tree_task(const struct place *p)
{
	const struct spec_task *task = NULL;

	if (!p->sel || !p->spec ||
	    (!p->spec->values[SPEC_TGID] && !p->spec->values[SPEC_TID]))
		return NULL;
	for (size_t i = 0; i < p->sel->nr; i++) {
		const struct spec_task *t = p->cat->files[p->sel->files[i]].task;

		if (!t || (task && t != task && !same_task(t, task)))
			return NULL;
		task = t;
	}
	return task;
}

void tree_format(const struct place *p, struct strbuf *out)
{
	spec_format(p->spec, out);
	for (size_t i = 0; p->base && i < SPEC_NR_TAGS; i++) {
		const struct spec_value *here = p->spec->values[i];
		const struct spec_value *there = p->base->p.spec->values[i];

		/* what is the same on both sides was said before diff: */
		if (!(p->base->given & 1ull << i) || (!here && !there) ||
		    (here && there && !strcmp(here->raw, there->raw)))
			continue;
		if (there)
			spec_format_value(&spec_tags[i], there, out);
		else
			strbuf_printf(out, "/%s:all", spec_tags[i].name);
	}
}

void tree_key(const struct place *p, struct strbuf *out)
{
	if (p->spec)
		tree_format(p, out);
	if (p->tag)
		strbuf_printf(out, "/%s:%s", p->tag->name, p->value ? p->value : "");
	if (p->of_base)
		strbuf_puts(out, "/diff");
	if (p->kind == PLACE_FILE)
		strbuf_printf(out, "/%s@%llu", p->report ? p->report->name : p->root_name,
			      (unsigned long long)place_generation(p));
	if (p->kind == PLACE_MORE)
		strbuf_puts(out, "/more:");
	if (p->kind == PLACE_ENTRIES)
		strbuf_printf(out, "/%s", p->report->name);
	if (p->kind == PLACE_EVENTS)
		strbuf_puts(out, "/events");
	if (p->entry)
		strbuf_printf(out, "/%s", p->entry);
	if (p->kind == PLACE_LINK)
		strbuf_printf(out, "->%s", p->target);
	if (p->listed)
		strbuf_putc(out, '+');
}
