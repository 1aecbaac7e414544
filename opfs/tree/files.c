/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/files.h"

#include <errno.h>

#include "base/cleanup.h"
#include "opfs/profile/compare.h"
#include "opfs/report/refuse.h"
#include "opfs/tree/access.h"
#include "opfs/tree/frames.h"
#include "opfs/tree/profiles.h"

int tree_is_here(const struct ask *a, const struct place *p, const struct report *r)
{
	if (r->session && place_narrows(p->spec))
		return err_set(
			a->err, -ENOENT,
			"%s is of a whole session, as %.100s/%s: no tag may select "
			"before it",
			r->name, p->spec->sessions[0], r->name);
	if (r->calls && p->cat && p->cat->nr_files == p->cat->nr_flat &&
	    !p->cat->nr_stacks)
		return err_set(a->err, -ENOENT,
			       "%s: no calls were recorded here: opcollect record -g "
			       "does that",
			       r->name);
	if (r->symbol && !r->more && !p->spec->values[SPEC_SYMBOL])
		return err_set(
			a->err, -ENOENT,
			"%s is of single functions: it is in directories of symbol:, as "
			"symbol:main/%s",
			r->name, r->name);
	return 0;
}

bool tree_in_more(const struct place *p, const struct report *r)
{
	return r->more && !(r->symbol && p->spec->values[SPEC_SYMBOL]);
}

/* Fails if there are too many kinds of columns, or others on the two sides of diff:. */
static int pairs_of_both(const struct ask *a, const struct place *p, struct profile **out)
{
	struct profile *now, *was;
	int rc = tree_pairs(a, p, &now);

	if (rc || !p->base) {
		*out = rc ? NULL : now;
		return rc;
	}
	rc = tree_pairs(a, &p->base->p, &was);
	if (!rc) {
		rc = profile_compare(now, was, out, a->err);
		profile_put(was);
	}
	profile_put(now);
	return rc;
}

/* Does the path choose functions?  Then catalogs do not tell which images and events
 * are left: what only slow files want to know exactly. */
static bool needs_rows(const struct place *p, const struct report *r)
{
	return r->more && (p->spec->values[SPEC_SYMBOL] || tree_has_frames(p->spec));
}

/* What can be checked before a file is made, mostly from catalogs alone. */
static int check_profile(const struct ask *a, const struct place *p,
			 const struct report *r, const struct options *o)
{
	struct report_job job = {
		.o = o, .v = a->v, .syms = a->t->syms, .reports = a->t->o.reports
	};
	struct profile *profile;
	int rc;

	if (!(o->tags & OPTION_TAG(SPLIT)) && !p->base && !r->check)
		return 0;
	rc = pairs_of_both(a, p, &profile);
	if (rc)
		return rc;
	job.p = profile;
	if (r->check)
		rc = needs_rows(p, r) ? -EAGAIN : r->check(&job, a->err);
	profile_put(profile);
	if (rc != -EAGAIN)
		return rc;
	rc = tree_profile(a, p, report_needs(r, o), &profile);
	if (rc)
		return rc;
	job.p = profile;
	rc = r->check(&job, a->err);
	profile_put(profile);
	return rc;
}

int tree_may_make(const struct ask *a, const struct place *p, const struct report *r)
{
	struct options o;
	int rc = tree_is_here(a, p, r);

	if (!rc && r->owner && !tree_is_owner(a))
		rc = err_set(a->err, -EACCES,
			     "%s is only for the user who mounted (uid %u): mount for "
			     "yourself, or use opfs cat",
			     r->name, (unsigned)a->t->o.owner);
	if (rc || refuse_nothing(r))
		return rc;
	options_init(&o, p->spec);
	rc = refuse_options(a->t->o.reports, r, &o, a->err);
	return rc ? rc : check_profile(a, p, r, &o);
}

int tree_check(struct tree *t, const struct place *p, const struct viewer *v,
	       struct err *err)
{
	struct err ignored = { 0 };
	struct ask a = { .t = t, .v = v, .err = err ? err : &ignored };

	return p->report ? tree_may_make(&a, p, p->report) : 0;
}
