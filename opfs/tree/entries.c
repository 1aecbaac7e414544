/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree/files.h"
#include "opfs/tree/text.h"

/* Reports that are directories: what files there are in one, found once and kept. */

struct entries {
	int refs; /* atomic */
	struct names list;
	int64_t until;
};

static void *kind_get(void *obj)
{
	struct entries *e = obj;

	__atomic_add_fetch(&e->refs, 1, __ATOMIC_RELAXED);
	return e;
}

static void kind_put(void *obj)
{
	struct entries *e = obj;

	if (__atomic_sub_fetch(&e->refs, 1, __ATOMIC_ACQ_REL))
		return;
	names_fini(&e->list);
	free(e);
}

static int64_t kind_until(void *obj)
{
	return ((const struct entries *)obj)->until;
}

static const struct cache_kind entries_kind = { .get = kind_get,
						.put = kind_put,
						.until = kind_until };

static void put_entries(struct entries **e)
{
	if (*e)
		kind_put(*e);
}

static int make(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	const struct tree_making *m = ctx;
	struct ask a = { .t = m->t, .v = v, .err = err };
	struct entries *e = calloc(1, sizeof(*e));
	struct tree_job j;
	int rc;

	if (!e)
		return err_set(err, -ENOMEM, "out of memory");
	e->refs = 1;
	rc = tree_job_init(&j, &a, m->p);
	if (!rc) {
		rc = m->p->report->entries(&j.job, &e->list, err);
		e->until = tree_until(&j, m->p->report);
		tree_job_fini(&j);
	}
	if (rc) {
		kind_put(e);
		return rc;
	}
	*obj = e;
	*bytes = sizeof(*e);
	for (size_t i = 0; i < e->list.len; i++)
		*bytes += strlen(e->list.data[i]) + 2 * sizeof(char *);
	return 0;
}

/* -EAGAIN: the viewer is quick, and they are not known yet. */
static int get_entries(const struct ask *a, const struct place *p, struct entries **out)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct tree_making m = { a->t, p };
	struct place all = *p; /* borrows */

	all.entry = NULL;
	m.p = &all;
	tree_text_key(a->t, &all, a->v, &key);
	return ask_cached(a, &entries_kind, &key, make, &m, (void **)out);
}

/* ---- components of their names */

/* Of sorted names the first that is not before @key. */
static size_t lower_bound(const struct names *l, const char *key)
{
	size_t from = 0, end = l->len;

	while (from < end) {
		size_t mid = from + (end - from) / 2;

		if (strcmp(l->data[mid], key) < 0)
			from = mid + 1;
		else
			end = mid;
	}
	return from;
}

/* The part of @name below the directory @dir ("": the report itself), or NULL. */
static const char *below(const char *name, const char *dir)
{
	size_t len = strlen(dir);

	if (!len)
		return name;
	return !strncmp(name, dir, len) && name[len] == '/' ? name + len + 1 : NULL;
}

/* The first component of @rest; heap. */
static char *component(const char *rest)
{
	return strndup(rest, strcspn(rest, "/"));
}

static bool is_file(const char *rest)
{
	return !strchr(rest, '/');
}

static int found(const struct ask *a, const struct place *from, const char *part,
		 bool file, struct place *to)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct place p;

	strbuf_printf(&path, "%s%s%s", from->entry, *from->entry ? "/" : "", part);
	if (strbuf_error(&path) || place_copy(from, &p))
		return ask_no_memory(a);
	free(p.entry);
	p.entry = strbuf_take(&path);
	p.kind = file ? PLACE_FILE : PLACE_ENTRIES;
	*to = p;
	return 0;
}

/* Looks for @name itself: a file, or the beginning of one. */
static int step_exactly(const struct ask *a, const struct place *from,
			const struct names *l, const char *name, struct place *to)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	size_t at;

	strbuf_printf(&key, "%s%s%s", from->entry, *from->entry ? "/" : "", name);
	if (strbuf_error(&key))
		return ask_no_memory(a);
	at = lower_bound(l, key.data);
	if (at < l->len && !strcmp(l->data[at], key.data))
		return found(a, from, name, true, to);
	strbuf_putc(&key, '/');
	at = lower_bound(l, strbuf_str(&key));
	if (at < l->len && !strncmp(l->data[at], strbuf_str(&key), key.len))
		return found(a, from, name, false, to);
	return -ENOENT;
}

/* Looks for a name that a listing cut short to @name. */
static int step_cut(const struct ask *a, const struct place *from, const struct names *l,
		    const char *name, struct place *to)
{
	for (size_t i = 0; i < l->len; i++) {
		CLEANUP(strbuf_fini) struct strbuf listed = { 0 };
		const char *rest = below(l->data[i], from->entry);
		CLEANUP(free_ptr) char *part = rest ? component(rest) : NULL;

		if (!part || strlen(part) < SPEC_LISTED_MAX / 3)
			continue;
		spec_listed(part, false, part, &listed);
		if (!strcmp(strbuf_str(&listed), name))
			return found(a, from, part, is_file(rest), to);
	}
	return -ENOENT;
}

int tree_step_entries(const struct ask *a, const struct place *from, const char *name,
		      struct place *to)
{
	CLEANUP(strbuf_fini) struct strbuf decoded = { 0 };
	CLEANUP(put_entries) struct entries *e = NULL;
	int rc = get_entries(a, from, &e);

	if (rc)
		return rc;
	spec_decode(name, &decoded);
	if (strbuf_error(&decoded))
		return ask_no_memory(a);
	rc = -ENOENT;
	if (decoded.len && !memchr(decoded.data, '/', decoded.len))
		rc = step_exactly(a, from, &e->list, decoded.data, to);
	if (rc == -ENOENT && spec_listed_cut(name))
		rc = step_cut(a, from, &e->list, name, to);
	if (rc != -ENOENT)
		return rc;
	return err_set(a->err, rc, "%s/%.200s has no \"%.100s\" with samples",
		       from->report->name, from->entry, name);
}

int tree_has_entry(const struct ask *a, const struct place *p)
{
	CLEANUP(put_entries) struct entries *e = NULL;
	int rc = get_entries(a, p, &e);

	if (rc || !*p->entry)
		return rc;
	for (size_t i = 0; i < e->list.len; i++)
		if (below(e->list.data[i], p->entry))
			return 0;
	return err_set(a->err, -ENOENT, "%s has no %.200s any more", p->report->name,
		       p->entry);
}

int tree_list_entries(const struct ask *a, const struct place *p, struct lister *l)
{
	CLEANUP(put_entries) struct entries *e = NULL;
	CLEANUP(free_ptr) char *last = NULL;
	int rc = tree_may_make(a, p, p->report);

	rc = rc ? rc : get_entries(a, p, &e);
	for (size_t i = 0; !rc && i < e->list.len; i++) {
		CLEANUP(strbuf_fini) struct strbuf listed = { 0 };
		const char *rest = below(e->list.data[i], p->entry);
		char *part = rest ? component(rest) : NULL;

		/* names are sorted, so the entries of a directory are adjacent */
		if (!part || !*part || (last && !strcmp(last, part))) {
			free(part);
			continue;
		}
		free(last);
		last = part;
		spec_listed(part, false, part, &listed);
		rc = strbuf_error(&listed)
			     ? -ENOMEM
			     : lister_add(l, strbuf_str(&listed),
					  is_file(rest) ? PLACE_FILE : PLACE_ENTRIES);
	}
	return rc;
}
