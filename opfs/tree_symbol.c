/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

static void *kind_get(void *obj)
{
	return profile_get(obj);
}

static void kind_put(void *obj)
{
	profile_put(obj);
}

const struct cache_kind tree_profile_kind = { kind_get, kind_put };

static void put_profile(struct profile **p)
{
	if (*p)
		profile_put(*p);
}

/* ---- whole profiles */

void tree_viewer_key(const struct viewer *v, struct strbuf *key)
{
	uint32_t who[2] = { v ? v->uid : 0, v ? v->gid : 0 };

	strbuf_add(key, who, sizeof(who));
	if (v)
		strbuf_add(key, v->groups, v->nr_groups * sizeof(*v->groups));
	strbuf_putc(key, ';');
}

static void profile_key(const struct ask *a, const struct catalog *cat,
			const struct selection *sel, unsigned needs, struct strbuf *key)
{
	strbuf_add(key, &cat->generation, sizeof(cat->generation));
	strbuf_add(key, &needs, sizeof(needs));
	tree_viewer_key(a->v, key);
	strbuf_add(key, sel->files, sel->nr * sizeof(*sel->files));
}

struct load {
	const struct ask *a;
	struct catalog *cat;
	const struct selection *sel;
	unsigned needs;
};

static int load(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	struct load *l = ctx;
	struct profile *p;
	int rc = profile_load(l->cat, l->sel->files, l->sel->nr, l->needs, l->a->t->syms,
			      v, &p, err);

	if (rc)
		return rc;
	*obj = p;
	*bytes = p->bytes;
	return 0;
}

/* Of files only, without symbol:.  One with symbols does where none are needed. */
static int whole_profile(const struct ask *a, struct catalog *cat,
			 const struct selection *sel, unsigned needs,
			 struct profile **out)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct load l = { a, cat, sel, needs };
	struct profile *p = NULL;

	if (a->quick) /* whose symbols is not known then */
		return -EAGAIN;
	for (unsigned has = PROFILE_SYMBOLS + 1; has-- > needs && !p;) {
		strbuf_reset(&key);
		profile_key(a, cat, sel, has, &key);
		if (strbuf_error(&key))
			return err_set(a->err, -ENOMEM, "out of memory");
		p = cache_peek(a->t->cache, &tree_profile_kind, key.data, key.len);
	}
	if (p) {
		*out = p;
		return 0;
	}
	return cache_get(a->t->cache, &tree_profile_kind, key.data, key.len, load, &l,
			 a->v, (void **)out, a->err);
}

/* ---- symbols */

/* Bounded by what a listing can say of it; see tree_listed_symbol(). */
static bool reads_as(const struct profile_row *row, const char *raw)
{
	CLEANUP(strbuf_fini) struct strbuf plain = { 0 }, cut = { 0 };

	tree_listed_symbol(row, false, &plain);
	tree_listed_symbol(row, true, &cut);
	return !strcmp(strbuf_str(&plain), raw) || !strcmp(strbuf_str(&cut), raw);
}

static bool is_named(const struct profile_row *row, const char *name)
{
	return !strcmp(row->name, name) || (row->sym && !strcmp(row->sym->name, name));
}

static bool item_keeps(const struct spec_item *item, const struct profile_row *row)
{
	if (item->all || is_named(row, item->text))
		return true;
	return item->glob && (spec_glob(item->pattern, row->name) ||
			      (row->sym && spec_glob(item->pattern, row->sym->name)));
}

static bool keep(void *ctx, const struct profile_row *row)
{
	const struct spec_value *v = ctx;

	if (v->exact)
		return is_named(row, v->text);
	for (size_t i = 0; i < v->items.nr; i++)
		if (item_keeps(&v->items.items[i], row))
			return true;
	return spec_listed_cut(v->raw) && reads_as(row, v->raw);
}

int tree_select_symbols(const struct ask *a, struct catalog *cat, const struct spec *spec,
			struct selection **sel)
{
	CLEANUP(put_profile) struct profile *p = NULL;
	struct spec_value *v = spec->values[SPEC_SYMBOL];
	uint64_t samples = 0;
	bool any = false;
	int rc = whole_profile(a, cat, *sel, PROFILE_SYMBOLS, &p);

	if (rc)
		return rc;
	for (size_t i = 0; i < p->nr_rows; i++) {
		if (!keep(v, &p->rows[i]))
			continue;
		any = true;
		for (size_t c = 0; c < p->nr_classes; c++)
			samples += p->rows[i].samples[c];
	}
	(*sel)->samples = samples;
	if (!any)
		(*sel)->nr = 0;
	return 0;
}

int tree_profile(const struct ask *a, const struct place *p, unsigned needs,
		 struct profile **out)
{
	CLEANUP(put_profile) struct profile *full = NULL;
	struct spec_value *v = p->spec->values[SPEC_SYMBOL];
	int rc = whole_profile(a, p->cat, p->sel, v ? PROFILE_SYMBOLS : needs, &full);

	if (rc)
		return rc;
	if (v)
		return profile_filter(full, keep, v, out, a->err);
	*out = TAKE(full);
	return 0;
}

int tree_has_symbol(const struct ask *a, const struct place *p, const char *name,
		    bool *found)
{
	CLEANUP(put_profile) struct profile *full = NULL;
	int rc = whole_profile(a, p->cat, p->sel, PROFILE_SYMBOLS, &full);

	*found = false;
	for (size_t i = 0; !rc && i < full->nr_rows && !*found; i++)
		*found = is_named(&full->rows[i], name);
	return rc;
}
