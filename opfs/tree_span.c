/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "libspec/clock.h"
#include "opfs/spans.h"
#include "opfs/tree_impl.h"

/* time: and last:, the sum of the sessions that overlap a span of time. */

/* How often sessions may come and go while they are read. */
enum { MAX_TRIES = 10 };

/* ---- which sessions */

/* What there is, where nothing overlaps. */
static int none_overlaps(const struct ask *a, const struct spec_tag *tag, const char *raw,
			 const struct spans_list *l)
{
	CLEANUP(strbuf_fini) struct strbuf known = { 0 };
	struct spec_span all = { UINT64_MAX, 0 };
	size_t nr = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct spec_span *s = &l->rows[i].when.span;

		if (!l->rows[i].dated || !tree_may_see(a->t, l->rows[i].name, a->v))
			continue;
		nr++;
		all.from_ns = s->from_ns < all.from_ns ? s->from_ns : all.from_ns;
		all.to_ns = s->to_ns > all.to_ns ? s->to_ns : all.to_ns;
	}
	if (!nr)
		return err_set(a->err, -ENOENT,
			       "%s:%.60s: no session tells when it was (those of OProfile "
			       "do not)",
			       tag->name, raw);
	spec_span_show(&all, &known);
	return err_set(a->err, -ENOENT,
		       "%s:%.60s: no session overlaps it; there are %zu, from %s",
		       tag->name, raw, nr, strbuf_str(&known));
}

static bool is_in(const struct names *n, const char *name)
{
	for (size_t i = 0; i < n->len; i++)
		if (!strcmp(n->data[i], name))
			return true;
	return false;
}

static int pick(const struct ask *a, const struct spans_list *l,
		const struct spec_span *want, const struct names *excluded,
		struct names *out)
{
	int rc = 0;

	for (size_t i = 0; i < l->nr && !rc; i++) {
		const struct spans_row *row = &l->rows[i];

		if (row->dated && spec_span_overlap(&row->when.span, want) &&
		    !is_in(excluded, row->name) && tree_may_see(a->t, row->name, a->v))
			rc = names_add(out, row->name);
	}
	return rc ? err_set(a->err, rc, "out of memory") : 0;
}

static void free_list(struct spans_list *l)
{
	spans_list_fini(l);
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
		: spans_get(a->t->spans, catalog_store_fd(a->t->store), now, anew,
			    a->quick, list, a->err);
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
	return *out ? 0 : err_set(a->err, -ENOMEM, "out of memory");
}

/* ---- entering */

static const struct spans_row *row_of(const struct spans_list *l, const char *name)
{
	for (size_t i = 0; i < l->nr; i++)
		if (!strcmp(l->rows[i].name, name))
			return &l->rows[i];
	return NULL;
}

/* Are the sessions that were read those that were meant: none rotated on the way? */
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
	rc = now ? tree_enter_in(a, NULL, now, to)
		 : err_set(a->err, -ENOMEM, "out of memory");
	if (rc == -ENOENT && !anew) { /* removed since it was listed? */
		*same = false;
		return 0;
	}
	if (!rc)
		*same = is_same(to->cat, &list);
	if (!rc && !*same)
		place_fini(to);
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
	return *out ? 0 : err_set(a->err, -ENOMEM, "out of memory");
}

int tree_span_value(const struct ask *a, const struct spec_tag *tag, const char *raw,
		    struct place *to)
{
	CLEANUP(spec_putp) struct spec *spec = NULL;
	int rc = span_spec(a, tag, raw, &spec);

	return rc ? rc : tree_span_enter(a, spec, to);
}

int tree_span_list(const struct ask *a, const struct spec_tag *tag, const char *raw,
		   struct names *out)
{
	CLEANUP(free_list) struct spans_list list = { 0 };
	CLEANUP(spec_putp) struct spec *spec = NULL;
	int rc = span_spec(a, tag, raw, &spec);

	return rc ? rc : resolve(a, spec, false, &list, out);
}

/* ---- what can be asked */

static const char *const ages[] = { "10s", "1m", "10m", "1h", "1d" };

static bool is_shown(const struct ask *a, const struct spans_row *row)
{
	return row->dated && tree_may_see(a->t, row->name, a->v);
}

/* Ages in which there was anything. */
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

/* The spans that sessions were, in whole seconds. */
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
	int rc = spans_get(a->t->spans, catalog_store_fd(a->t->store), now, false, a->quick,
			   &list, a->err);

	if (rc)
		return rc;
	rc = tag->id == SPEC_LAST ? age_names(a, tag, &list, now, out)
				  : span_names(a, &list, out);
	return rc == -ENOMEM ? err_set(a->err, rc, "out of memory") : rc;
}
