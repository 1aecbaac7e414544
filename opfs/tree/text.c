/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/text.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/until.h"
#include "opfs/profile/compare.h"
#include "opfs/report/refuse.h"
#include "opfs/tree/files.h"
#include "opfs/tree/profiles.h"
#include "opfs/tree/remember.h"

enum {
	OUTSIDE_S = 10
}; /* as long as libsym/server/cache.h trusts what could become better */

static void *kind_get(void *obj)
{
	return text_get(obj);
}

static void kind_put(void *obj)
{
	text_put(obj);
}

static int64_t kind_until(void *obj)
{
	return ((const struct text *)obj)->until;
}

/* Have the files that it is made of, if it is made piece by piece, changed? */
static bool kind_holds(void *obj, void *ctx)
{
	(void)ctx;
	return text_fresh(obj);
}

static const struct cache_kind text_kind = {
	.get = kind_get, .put = kind_put, .until = kind_until, .holds = kind_holds
};

/* ---- what a report is made of */

/* README and status are of the samples, however they are shown: they are there too where
 * tags contradict each other.  What finds binaries stays. */
static struct spec *plain_spec(const struct spec *spec, const struct report *r)
{
	struct spec *plain = spec_with(spec, NULL, NULL);

	for (size_t i = 0; plain && i < SPEC_NR_TAGS; i++)
		if (spec_tag_presents(&spec_tags[i]) &&
		    spec_tags[i].kind != SPEC_TAG_PATHS &&
		    !(r->inlines && i == SPEC_WITH))
			spec_value_put(TAKE(plain->values[i]));
	return plain;
}

/* The newer side's path: without diff:. */
static int add_path(const struct place *p, struct strbuf *out)
{
	struct spec *spec = spec_with(p->spec, NULL, NULL);

	if (!spec)
		return -ENOMEM;
	spec_value_put(TAKE(spec->values[SPEC_DIFF]));
	spec_format(spec, out);
	spec_put(spec);
	return strbuf_error(out);
}

/* @j->profile becomes a comparison with the older side. */
static int compare(struct tree_job *j, const struct ask *a, const struct place *p,
		   unsigned needs)
{
	struct profile *was, *both;
	int rc = tree_profile(a, &p->base->p, needs, &was);

	if (rc)
		return rc;
	rc = profile_compare(j->profile, was, &both, a->err);
	profile_put(was);
	if (rc)
		return rc;
	profile_put(j->profile);
	j->profile = both;
	spec_format(p->base->p.spec, &j->base_path);
	j->job.base_path = strbuf_str(&j->base_path);
	return strbuf_error(&j->base_path);
}

static int load(struct tree_job *j, const struct ask *a, const struct place *p)
{
	const struct report *r = p->report;
	bool plain = refuse_nothing(r);
	struct place at = *p; /* borrows, but for its spec */
	unsigned needs;
	int rc;

	at.spec = plain ? plain_spec(p->spec, r) : spec_get(p->spec);
	j->spec = at.spec;
	if (!at.spec || add_path(p, &j->path))
		return ask_no_memory(a);
	options_init(&j->o, at.spec);
	needs = report_needs(r, &j->o);
	rc = tree_profile(a, &at, needs, &j->profile);
	if (!rc && p->base && !plain)
		rc = compare(j, a, p, needs);
	return rc;
}

void tree_job_fini(struct tree_job *j)
{
	profile_put(j->profile);
	spec_put(j->spec);
	strbuf_fini(&j->path);
	strbuf_fini(&j->base_path);
}

int tree_job_init(struct tree_job *j, const struct ask *a, const struct place *p)
{
	int rc;

	*j = (struct tree_job){ 0 };
	rc = load(j, a, p);
	if (!rc) {
		j->job.p = j->profile;
		j->job.o = &j->o;
		j->job.v = a->v;
		j->job.reader = tree_reader(a->t, a->v);
		j->job.syms = a->t->syms;
		j->job.reports = a->t->o.reports;
		j->job.path = strbuf_str(&j->path);
		j->job.entry = p->entry;
		if (p->report->check)
			rc = p->report->check(&j->job, a->err);
	}
	if (rc)
		tree_job_fini(j);
	return rc;
}

int64_t tree_until(const struct tree_job *j, const struct report *r)
{
	int64_t outside = r->outside && r->outside(&j->o) ? until_in(OUTSIDE_S) : 0;

	return until_both(outside, j->profile->until);
}

/* ---- texts */

static int make_text(const struct tree_job *j, const struct report *report,
		     struct text **out, struct err *err)
{
	struct text_draft draft;
	int rc;

	if (report->open)
		return report->open(&j->job, out, err);
	text_draft_init(&draft);
	rc = report->render(&j->job, &draft.text, err);
	if (!rc)
		return text_draft_end(&draft, out, err);
	text_draft_fini(&draft);
	return rc;
}

static int make(void *ctx, const struct viewer *v, void **obj, size_t *bytes,
		struct err *err)
{
	const struct tree_making *m = ctx;
	struct ask a = { .t = m->t, .v = v, .err = err };
	uint64_t version = tree_arrivals(m->t);
	struct tree_job j;
	struct text *text;
	int rc = tree_job_init(&j, &a, m->p);

	if (rc)
		return rc;
	rc = make_text(&j, m->p->report, &text, err);
	if (!rc) {
		text->until = tree_until(&j, m->p->report);
		text->version = version;
	}
	tree_job_fini(&j);
	if (rc)
		return rc;
	m->t->nr_made++;
	*obj = text;
	*bytes = text_bytes(text);
	return 0;
}

void tree_selection_key(const struct place *p, struct strbuf *key)
{
	strbuf_add(key, &p->cat->generation, sizeof(p->cat->generation));
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		const struct spec_value *value = p->spec->values[i];

		if (value && (i == SPEC_SYMBOL || spec_tags[i].kind == SPEC_TAG_FRAMES ||
			      spec_tag_presents(&spec_tags[i]) ||
			      spec_tags[i].kind == SPEC_TAG_SPAN))
			strbuf_printf(key, "%zu:%d%zu:%s\n", i, value->exact,
				      strlen(value->raw), value->raw);
	}
	strbuf_putc(key, ';');
	tree_files_key(p->cat, p->sel, key);
}

/* Of one side. */
static void side_key(const struct place *p, const struct report *r, struct strbuf *key)
{
	tree_selection_key(p, key);
	if (r->needs_more || profile_has_arcs(r->needs))
		tree_arcs_key(p->spec, key);
}

void tree_text_key(struct tree *t, const struct place *p, const struct viewer *v,
		   struct strbuf *key)
{
	tree_arrivals_key(t, key);
	strbuf_add(key, &p->report, sizeof(p->report));
	viewer_key(v, key);
	side_key(p, p->report, key);
	if (p->base)
		side_key(&p->base->p, p->report, key);
	if (p->base || p->report->names_path) /* a comparison names both */
		place_format(p, key);
	if (p->entry)
		strbuf_printf(key, "/%s", p->entry);
}

int tree_report_text(const struct ask *a, const struct place *p, struct text **out)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct tree_making m = { a->t, p };
	int rc;

	tree_text_key(a->t, p, a->v, &key);
	if (strbuf_error(&key))
		return ask_no_memory(a);
	rc = tree_may_make(a, p, p->report);
	rc = rc ? rc
		: cache_get(a->t->cache, &text_kind, key.data, key.len, make, &m, a->v,
			    (void **)out, a->err);
	if (rc == -EINVAL || rc == -EACCES)
		tree_remember(a->t, p, NULL, a->v, a->err);
	return rc;
}

int tree_report_write(const struct ask *a, const struct place *p,
		      struct strbuf_sink *sink)
{
	CLEANUP(strbuf_fini) struct strbuf out = { .sink = sink };
	struct tree_job j;
	int rc = tree_may_make(a, p, p->report);

	rc = rc ? rc : tree_job_init(&j, a, p);
	if (rc)
		return rc;
	rc = p->report->render(&j.job, &out, a->err);
	tree_job_fini(&j);
	if (rc)
		return rc;
	sink->at_least = 0; /* the rest */
	strbuf_drain(&out);
	return report_done(&out, a->err);
}

int tree_shown(struct tree *t, const struct place *p, const struct viewer *v,
	       struct profile **out, struct err *err)
{
	struct ask a = { .t = t, .v = v, .err = err };
	struct tree_job j;
	int rc;

	if (p->kind != PLACE_FILE)
		return err_set(err, -EINVAL, "no file of a profile");
	rc = tree_may_make(&a, p, p->report);
	rc = rc ? rc : tree_job_init(&j, &a, p);
	if (rc)
		return rc;
	*out = TAKE(j.profile);
	tree_job_fini(&j);
	return 0;
}

bool tree_text_is_slow(const struct place *p)
{
	return p->kind == PLACE_ROOT_FILE && !strcmp(p->file, "status");
}

bool tree_text_is_good(struct tree *t, const struct text *x)
{
	return text_is_good(x) && (!x->version || x->version == tree_arrivals(t));
}

struct text *tree_text_cached(struct tree *t, const struct place *p,
			      const struct viewer *v)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	struct text *x;

	if (p->kind != PLACE_FILE)
		return NULL;
	tree_text_key(t, p, v, &key);
	if (strbuf_error(&key))
		return NULL;
	x = cache_peek(t->cache, &text_kind, key.data, key.len);
	if (!x || !x->source) /* whether that is fresh takes time */
		return x;
	text_put(x);
	return NULL;
}
