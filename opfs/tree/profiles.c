/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/profiles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/profile/filter.h"
#include "opfs/profile/inlines.h"
#include "opfs/profile/stacks.h"
#include "opfs/tree/filter.h"
#include "opfs/tree/frames.h"

/* ---- whole profiles */

/* Which files of arcs there are follows from the specification, not from other files. */
void tree_arcs_key(const struct spec *spec, struct strbuf *key)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		const struct spec_value *v = spec->values[i];

		if (v && !spec_tag_presents(&spec_tags[i]))
			strbuf_printf(key, "%zu:%d%zu:%s\n", i, v->exact, strlen(v->raw),
				      v->raw);
	}
	strbuf_putc(key, ';');
}

uint64_t tree_arrivals(struct tree *t)
{
	return t->syms ? 1 + sym_server_arrivals(sym_cache_server(t->syms)) : 1;
}

void tree_arrivals_key(struct tree *t, struct strbuf *key)
{
	uint64_t nr = tree_arrivals(t);

	strbuf_add(key, &nr, sizeof(nr));
}

static void profile_key(const struct ask *a, const struct catalog *cat,
			const struct spec *spec, const struct selection *sel,
			const struct options *o, unsigned needs, struct strbuf *key)
{
	tree_arrivals_key(a->t, key);
	strbuf_add(key, &cat->generation, sizeof(cat->generation));
	strbuf_add(key, &needs, sizeof(needs));
	viewer_key(a->v, key);
	options_profile_key(o, key);
	if (profile_has_arcs(needs))
		tree_arcs_key(spec, key);
	tree_files_key(cat, sel, key);
}

struct load {
	const struct ask *a;
	struct catalog *cat;
	const struct spec *spec;
	const struct selection *sel;
	const struct options *o;
	unsigned needs;
};

static int load(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	struct load *l = ctx;
	CLEANUP(selection_putp) struct selection *arcs = NULL;
	struct profile_query q = {
		.cat = l->cat,
		.selected = l->sel->files,
		.nr_selected = l->sel->nr,
		.needs = l->needs,
		.classes = l->o->classes,
		.merge_lib = l->o->merge_lib,
		.merge_kernel = l->o->merge_kernel,
		.regions = l->o->regions,
		.demangle = l->o->demangle,
		.image_path = l->o->image_path,
		.root = l->o->root,
		.syms = l->a->t->syms,
		.viewer = v,
		.reader = tree_reader(l->a->t, v),
	};
	struct ask a = { .t = l->a->t, .v = v, .err = err };
	struct profile *p;
	int rc = 0;

	if (profile_has_arcs(l->needs)) {
		rc = tree_select_arcs(&a, l->cat, l->spec, l->sel, &arcs);
		if (rc)
			return rc;
		q.selected = arcs->files;
		q.nr_selected = arcs->nr;
	}
	rc = profile_load(&q, &p, err);
	if (rc)
		return rc;
	*obj = p;
	*bytes = p->bytes;
	return 0;
}

/* What can be loaded, the most expensive first: it serves where less is needed. */
static const unsigned levels[] = {
	PROFILE_ARCS | PROFILE_HITS,
	PROFILE_ARCS,
	PROFILE_STACKS | PROFILE_HITS,
	PROFILE_STACKS,
	PROFILE_HITS,
	PROFILE_SYMBOLS,
	PROFILE_IMAGES,
	PROFILE_PAIRS,
};

/* Both have stacks, or neither; and so with arcs.  Either brings images without samples,
 * and arcs such rows, which reports that do not need them must not show. */
static bool alike(unsigned level, unsigned needs)
{
	return profile_has_stacks(level) == profile_has_stacks(needs) &&
	       profile_has_arcs(level) == profile_has_arcs(needs);
}

/* Of files only, without symbol:.  One that has more than is needed does as well, if both
 * are alike. */
static int whole_profile(const struct ask *a, struct catalog *cat,
			 const struct spec *spec, const struct selection *sel,
			 unsigned needs, struct profile **out)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct options o;
	struct load l = { a, cat, spec, sel, &o, needs };
	struct profile *p = NULL;

	if (viewer_quick(a->v)) /* whose symbols is not known then */
		return -EAGAIN;
	options_init(&o, spec);
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]) && !p; i++) {
		if ((levels[i] & needs) != needs || !alike(levels[i], needs))
			continue;
		strbuf_reset(&key);
		profile_key(a, cat, spec, sel, &o, levels[i], &key);
		if (strbuf_error(&key))
			return ask_no_memory(a);
		p = cache_peek(a->t->cache, &profile_kind, key.data, key.len);
	}
	if (p) {
		*out = p;
		return 0;
	}
	return cache_get(a->t->cache, &profile_kind, key.data, key.len, load, &l, a->v,
			 (void **)out, a->err);
}

int tree_pairs(const struct ask *a, const struct place *p, struct profile **out)
{
	return whole_profile(a, p->cat, p->spec, p->sel, PROFILE_PAIRS, out);
}

/* The same samples with names as sources have them, whatever demangle: and with: say. */
static int plain_names(const struct ask *a, struct catalog *cat, const struct spec *spec,
		       const struct selection *sel, unsigned needs, struct profile **out)
{
	CLEANUP(spec_putp) struct spec *plain = spec_with(spec, NULL, NULL);

	if (!plain)
		return ask_no_memory(a);
	spec_value_put(TAKE(plain->values[SPEC_DEMANGLE]));
	spec_value_put(TAKE(plain->values[SPEC_WITH]));
	return whole_profile(a, cat, plain, sel, needs, out);
}

/* ---- slices: what calls:, callers: and through: choose */

struct slice {
	const struct ask *a;
	struct catalog *cat;
	const struct spec *spec;
	const struct selection *sel;
	unsigned needs;
};

/* Chooses stacks.  NULL: there are none; *whole: what they are of, a reference. */
static int choose_stacks(const struct slice *s, struct profile **whole, uint8_t **keep,
			 uint64_t *samples)
{
	CLEANUP(profile_putp) struct profile *names = NULL;
	CLEANUP(free_ptr) uint8_t *chosen = NULL;
	int rc = whole_profile(s->a, s->cat, s->spec, s->sel, PROFILE_STACKS, whole);

	*keep = NULL;
	*samples = 0;
	if (rc || !(*whole)->stacks)
		return rc;
	if (tree_spells_otherwise(s->spec))
		rc = plain_names(s->a, s->cat, s->spec, s->sel, PROFILE_STACKS, &names);
	chosen = calloc((*whole)->stacks->nr_stacks + 1, 1);
	if (!rc && (!chosen || tree_frames_choose(s->spec, *whole, names ? names : *whole,
						  chosen, samples)))
		rc = ask_no_memory(s->a);
	if (!rc)
		*keep = TAKE(chosen);
	return rc;
}

static int load_slice(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		      struct err *err)
{
	CLEANUP(profile_putp) struct profile *whole = NULL;
	CLEANUP(free_ptr) uint8_t *keep = NULL;
	struct slice s = *(const struct slice *)ctx;
	struct ask a = *s.a;
	struct profile *p;
	uint64_t samples;
	int rc;

	a.v = v;
	a.err = err;
	s.a = &a;
	rc = choose_stacks(&s, &whole, &keep, &samples);
	if (!rc && !keep)
		rc = err_set(err, -ENOENT, "no stacks were recorded of these samples");
	rc = rc ? rc : profile_slice(whole, keep, s.needs, v, &p, err);
	if (rc)
		return rc;
	*obj = p;
	*bytes = p->bytes;
	return 0;
}

/* All that tags choose, but for symbol: and the like. */
static int sliced_profile(const struct ask *a, struct catalog *cat,
			  const struct spec *spec, const struct selection *sel,
			  unsigned needs, struct profile **out)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct slice s = { a, cat, spec, sel, needs | PROFILE_STACKS };
	struct options o;

	if (!tree_has_frames(spec))
		return whole_profile(a, cat, spec, sel, needs, out);
	if (viewer_quick(a->v))
		return -EAGAIN;
	options_init(&o, spec);
	strbuf_puts(&key, "slice\n");
	tree_frames_key(spec, &key);
	profile_key(a, cat, spec, sel, &o, s.needs, &key);
	if (strbuf_error(&key))
		return ask_no_memory(a);
	return cache_get(a->t->cache, &profile_kind, key.data, key.len, load_slice, &s,
			 a->v, (void **)out, a->err);
}

static int select_stacks(const struct ask *a, struct catalog *cat,
			 const struct spec *spec, struct selection **sel)
{
	CLEANUP(profile_putp) struct profile *whole = NULL;
	CLEANUP(free_ptr) uint8_t *keep = NULL;
	const struct slice s = { a, cat, spec, *sel, PROFILE_STACKS };
	uint64_t samples;
	int rc = choose_stacks(&s, &whole, &keep, &samples);

	if (rc)
		return rc;
	(*sel)->samples = samples;
	(*sel)->empty = !samples;
	if (!keep)
		(*sel)->nr = 0;
	return 0;
}

/* ---- rows that tags choose */

/* Which rows of a selection symbol: keeps, and their @samples. */
static int find_symbols(const struct ask *a, struct catalog *cat, const struct spec *spec,
			const struct selection *sel, unsigned needs, bool *any,
			uint64_t *samples)
{
	CLEANUP(tree_filter_fini)
	struct tree_filter f = { .symbol = spec->values[SPEC_SYMBOL] };
	CLEANUP(profile_putp) struct profile *p = NULL;
	CLEANUP(profile_putp) struct profile *names = NULL;
	int rc = sliced_profile(a, cat, spec, sel, needs, &p);

	rc = rc ? rc : plain_names(a, cat, spec, sel, needs, &names);
	rc = rc ? rc : tree_filter_init(&f, p, names, a->err);
	if (rc)
		return rc;
	for (size_t i = 0; i < p->nr_rows; i++) {
		if (!tree_filter_keeps(&f, &p->rows[i]))
			continue;
		*any = true;
		for (size_t c = 0; c < p->nr_classes; c++)
			*samples += p->rows[i].samples[c];
	}
	return 0;
}

static int has_arcs(const struct ask *a, struct catalog *cat, const struct spec *spec,
		    const struct selection *sel, bool *has)
{
	CLEANUP(selection_putp) struct selection *both = NULL;
	int rc = 0;

	*has = false;
	for (size_t i = 0; i < sel->nr && !*has; i++)
		*has = cat->files[sel->files[i]].stacks.nr_nodes;
	if (!*has && cat->nr_files > cat->nr_flat)
		rc = tree_select_arcs(a, cat, spec, sel, &both);
	if (!rc && both)
		*has = both->nr > sel->nr;
	return rc;
}

static int select_symbols(const struct ask *a, struct catalog *cat,
			  const struct spec *spec, struct selection **sel)
{
	uint64_t samples = 0;
	bool any = false, arcs = false;
	int rc = find_symbols(a, cat, spec, *sel, PROFILE_SYMBOLS, &any, &samples);

	/* a function that only calls others has no samples, and exists all the same */
	if (!rc && !any)
		rc = has_arcs(a, cat, spec, *sel, &arcs);
	if (!rc && arcs)
		rc = find_symbols(a, cat, spec, *sel, PROFILE_ARCS, &any, &samples);
	if (rc)
		return rc;
	(*sel)->samples = samples;
	(*sel)->empty = !any && tree_has_frames(spec);
	if (!any && !(*sel)->empty)
		(*sel)->nr = 0;
	return 0;
}

int tree_select(const struct ask *a, struct catalog *cat, const struct spec *spec,
		const struct spec_tag *prefix, const struct selection *of,
		struct selection **out)
{
	CLEANUP(selection_putp) struct selection *s = NULL;
	int rc = tree_select_files(a, cat, spec, prefix, of, &s);

	if (!rc && tree_has_frames(spec) && !prefix && s->nr)
		rc = select_stacks(a, cat, spec, &s);
	if (!rc && spec->values[SPEC_SYMBOL] && !prefix && s->nr && !s->empty)
		rc = select_symbols(a, cat, spec, &s);
	if (!rc)
		*out = TAKE(s);
	return rc;
}

static int filter(const struct ask *a, const struct place *p, struct tree_filter *f,
		  struct profile *full, struct profile **out)
{
	CLEANUP(profile_putp) struct profile *names = NULL;
	int rc = 0;

	if (tree_spells_otherwise(p->spec))
		rc = plain_names(a, p->cat, p->spec, p->sel,
				 profile_has_arcs(full->loaded) ? PROFILE_ARCS
								: PROFILE_SYMBOLS,
				 &names);
	rc = rc ? rc : tree_filter_init(f, full, names ? names : full, a->err);
	return rc ? rc : profile_filter(full, tree_filter_keeps, f, out, a->err);
}

/* All that tags choose. */
static int chosen_profile(const struct ask *a, const struct place *p, unsigned needs,
			  struct profile **out)
{
	CLEANUP(tree_filter_fini)
	struct tree_filter f = {
		.symbol = p->spec->values[SPEC_SYMBOL],
		.include = p->spec->values[SPEC_INCLUDE_SYMBOLS],
		.exclude = p->spec->values[SPEC_EXCLUDE_SYMBOLS],
	};
	CLEANUP(profile_putp) struct profile *full = NULL;
	bool some = f.symbol || f.include || f.exclude;
	int rc = sliced_profile(a, p->cat, p->spec, p->sel,
				some ? needs | PROFILE_SYMBOLS : needs, &full);

	if (rc)
		return rc;
	if (some)
		return filter(a, p, &f, full, out);
	*out = TAKE(full);
	return 0;
}

/* ---- inlined functions: what with:inlines makes of it */

struct inlining {
	const struct ask *a;
	const struct place *p;
	const struct options *o;
	unsigned needs;
};

static int load_inlined(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
			struct err *err)
{
	CLEANUP(profile_putp) struct profile *from = NULL;
	const struct inlining *x = ctx;
	struct ask a = { .t = x->a->t, .v = v, .err = err };
	const struct profile_inline_query q = {
		.needs = x->needs, .demangle = x->o->demangle, .syms = a.t->syms, .v = v
	};
	struct profile *p;
	unsigned needs = (x->needs & ~PROFILE_INLINES_LINES) | PROFILE_HITS;
	int rc = chosen_profile(&a, x->p, needs, &from);

	rc = rc ? rc : profile_inline(from, &q, &p, err);
	if (rc)
		return rc;
	*obj = p;
	*bytes = p->bytes;
	return 0;
}

/* Tags choose samples by the functions that code is really in, wherever with:inlines
 * stands in the path: so it changes no sum. */
static int inlined_profile(const struct ask *a, const struct place *p, unsigned needs,
			   struct profile **out)
{
	static const unsigned by_name[] = { SPEC_SYMBOL, SPEC_INCLUDE_SYMBOLS,
					    SPEC_EXCLUDE_SYMBOLS };
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct options o;
	const struct inlining x = { a, p, &o, needs };

	if (viewer_quick(a->v))
		return -EAGAIN;
	options_init(&o, p->spec);
	strbuf_puts(&key, "inlines\n");
	for (size_t i = 0; i < sizeof(by_name) / sizeof(by_name[0]); i++) {
		const struct spec_value *v = p->spec->values[by_name[i]];

		strbuf_printf(&key, "%d%zu:%s\n", v ? v->exact : 0,
			      v ? strlen(v->raw) : 0, v ? v->raw : "");
	}
	tree_frames_key(p->spec, &key);
	profile_key(a, p->cat, p->spec, p->sel, &o, needs, &key);
	if (strbuf_error(&key))
		return ask_no_memory(a);
	return cache_get(a->t->cache, &profile_kind, key.data, key.len, load_inlined,
			 (void *)(uintptr_t)&x, a->v, (void **)out, a->err);
}

int tree_profile(const struct ask *a, const struct place *p, unsigned needs,
		 struct profile **out)
{
	if ((needs & PROFILE_INLINES) == PROFILE_INLINES)
		return inlined_profile(a, p, needs, out);
	return chosen_profile(a, p, needs, out);
}

int tree_plain_profile(const struct ask *a, const struct place *p, unsigned needs,
		       struct profile **out)
{
	return plain_names(a, p->cat, p->spec, p->sel, needs, out);
}

int tree_has_symbol(const struct ask *a, const struct place *p, const char *name,
		    bool *found)
{
	CLEANUP(profile_putp) struct profile *full = NULL;
	int rc = plain_names(a, p->cat, p->spec, p->sel, PROFILE_SYMBOLS, &full);

	*found = false;
	for (size_t i = 0; !rc && i < full->nr_rows && !*found; i++)
		*found = tree_is_named(&full->rows[i], name);
	return rc;
}

int tree_symbol_names(const struct ask *a, const struct place *p, struct names *out)
{
	CLEANUP(profile_putp) struct profile *profile = NULL;
	int rc = tree_profile(a, p, PROFILE_SYMBOLS, &profile);

	if (rc)
		return rc;
	return tree_list_symbols(profile, out) ? ask_no_memory(a) : 0;
}

static bool is_of(const void *obj, void *session)
{
	return catalog_is_of(((const struct profile *)obj)->cat, session);
}

void tree_forget_profiles(struct tree *t, const char *session)
{
	cache_drop_if(t->cache, &profile_kind, is_of, (void *)(uintptr_t)session);
}
