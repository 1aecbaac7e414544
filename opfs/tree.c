/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

/* ---- the tree */

static char *copy_or_null(const char *s, bool *failed)
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
	t->o.session_dir = copy_or_null(o->session_dir, &failed);
	t->o.mountpoint = copy_or_null(o->mountpoint, &failed);
	t->o.about = copy_or_null(o->about, &failed);
	t->server = sym_server_new(NULL);
	t->syms = t->server ? sym_cache_new(t->server, o->cache_bytes / 2) : NULL;
	t->cache = cache_new(o->cache_bytes / 2);
	t->reasons = reasons_new();
	t->resolver = resolver_new(o->mountpoint);
	if (failed || !t->syms || !t->cache || !t->reasons || !t->resolver)
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
	reasons_free(t->reasons);
	resolver_free(t->resolver);
	free((char *)t->o.session_dir);
	free((char *)t->o.mountpoint);
	free((char *)t->o.about);
	free(t);
}

/* ---- places */

int tree_root(struct tree *t, struct place *out)
{
	(void)t;
	*out = (struct place){ .kind = PLACE_ROOT, .listed = true };
	return 0;
}

void place_fini(struct place *p)
{
	catalog_put(p->cat);
	spec_put(p->spec);
	selection_put(p->sel);
	free(p->value);
	free(p->target);
	*p = (struct place){ 0 };
}

int place_copy(const struct place *from, struct place *to)
{
	struct place p = *from;
	bool failed = false;

	p.value = copy_or_null(from->value, &failed);
	p.target = copy_or_null(from->target, &failed);
	if (failed) {
		free(p.value);
		free(p.target);
		return -ENOMEM;
	}
	catalog_get(p.cat);
	spec_get(p.spec);
	selection_get(p.sel);
	*to = p;
	return 0;
}

int tree_place_init(struct place *to, enum place_kind kind, struct catalog *cat,
		    struct spec *spec, struct selection *sel, const struct spec_tag *tag,
		    const char *value, struct err *err)
{
	*to = (struct place){ .kind = kind,
			      .cat = catalog_get(cat),
			      .spec = spec_get(spec),
			      .sel = selection_get(sel),
			      .tag = tag };
	if (value) {
		to->value = strdup(value);
		if (!to->value) {
			place_fini(to);
			return err_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

/* ---- steps */

static int step(const struct ask *a, const struct place *from, const char *name,
		struct place *to)
{
	if (from->kind == PLACE_FILE || from->kind == PLACE_LINK)
		return err_set(a->err, -ENOTDIR, "not a directory");
	if (from->kind == PLACE_ROOT)
		return tree_step_root(a, name, to);
	return tree_step_below(a, from, name, to);
}

/* The component as text; NULL if it cannot be one. */
static char *component(const char *name, size_t len)
{
	if (!len || memchr(name, '\0', len) || memchr(name, '/', len) ||
	    (len <= 2 && !memcmp(name, "..", len)))
		return NULL;
	return strndup(name, len);
}

/* "current/event:X/NAME: why", as far as the place can be told. */
static void remember(struct tree *t, const struct place *from, const char *name,
		     const struct viewer *v, const struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	if (from->spec) {
		spec_format(from->spec, &text);
		strbuf_putc(&text, '/');
	}
	if (from->kind == PLACE_VALUES || from->kind == PLACE_PREFIX) {
		strbuf_printf(&text, "%s%s%s", from->tag->name,
			      *from->tag->name ? ":" : "",
			      from->value ? from->value : "");
		strbuf_putc(&text, '/');
	}
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
		remember(t, from, word, v, &why);
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

static int refreshed(const struct ask *a, const struct place *p, struct place *to)
{
	struct place base;
	int rc;

	rc = tree_enter_spec(a, p->spec, &base);
	if (rc)
		return rc;
	if (p->kind == PLACE_PREFIX || (p->kind == PLACE_PROFILE && p->tag)) {
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

int tree_refresh(struct tree *t, struct place *p, const struct viewer *v, struct err *err)
{
	struct ask a = { .t = t, .v = v, .err = err };
	struct catalog *now;
	struct place fresh;
	int rc;

	if (!p->cat || p->kind == PLACE_LINK)
		return 0;
	rc = catalog_store_get(t->store, p->spec->sessions, p->spec->nr_sessions, v, &now,
			       err);
	if (rc)
		return rc;
	if (now == p->cat) {
		catalog_put(now);
		return 0;
	}
	catalog_put(now);
	rc = refreshed(&a, p, &fresh);
	if (rc)
		return rc;
	fresh.listed = p->listed;
	place_fini(p);
	*p = fresh;
	return 0;
}

static bool list_is_quick(struct tree *t, const struct place *p)
{
	struct catalog *now;
	bool same;

	if (!p->cat || p->kind == PLACE_LINK || p->kind == PLACE_FILE)
		return true;
	if (p->spec->values[SPEC_SYMBOL] || (p->tag && p->tag->kind == SPEC_TAG_SYMBOL) ||
	    !catalog_store_ready(t->store, p->spec->sessions, p->spec->nr_sessions) ||
	    catalog_store_get(t->store, p->spec->sessions, p->spec->nr_sessions, NULL,
			      &now, NULL))
		return false;
	same = now == p->cat;
	catalog_put(now);
	return same;
}

bool tree_quick(struct tree *t, const struct place *p, const char *name, size_t len)
{
	CLEANUP(free_ptr) char *word = component(name, len);
	struct err err;
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

void tree_key(const struct place *p, struct strbuf *out)
{
	if (p->spec)
		spec_format(p->spec, out);
	if (p->tag)
		strbuf_printf(out, "/%s:%s", p->tag->name, p->value ? p->value : "");
	if (p->kind == PLACE_FILE)
		strbuf_printf(out, "/%s@%llu", p->report ? p->report->name : p->root_name,
			      p->cat ? (unsigned long long)p->cat->generation : 0ull);
	if (p->kind == PLACE_LINK)
		strbuf_printf(out, "->%s", p->target);
	if (p->listed)
		strbuf_putc(out, '+');
}
