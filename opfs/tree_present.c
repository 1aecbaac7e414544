/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "opfs/refuse.h"
#include "opfs/tree_impl.h"

/* Tags that say how to show samples, and which files take them. */

static int no_memory(const struct ask *a)
{
	return err_set(a->err, -ENOMEM, "out of memory");
}

static bool is_owner(const struct ask *a)
{
	return !a->t->o.shared || !a->v || a->v->uid == a->t->o.owner;
}

int tree_only_owner(const struct ask *a, const char *what)
{
	if (is_owner(a))
		return 0;
	return err_set(a->err, -EACCES,
		       "%s: names paths of this machine, and is only for the user who "
		       "mounted (uid %u): mount for yourself, or use opfs cat",
		       what, (unsigned)a->t->o.owner);
}

/* ---- values */

/* with: may be given again; its words come together. */
static int add_words(const struct ask *a, const struct spec_value *given, const char *raw,
		     struct strbuf *out)
{
	if (given)
		strbuf_printf(out, "%s,", given->raw);
	strbuf_puts(out, raw);
	return strbuf_error(out) ? no_memory(a) : 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = dir ? strlen(dir) : 0;

	return len && !strncmp(path, dir, len) && (!path[len] || path[len] == '/');
}

/* Directories that must be there, on this machine. */
static int check_dirs(const struct ask *a, const struct spec_tag *tag,
		      const struct spec_value *v)
{
	struct stat st;

	if (a->quick)
		return -EAGAIN;
	for (size_t i = 0; i < v->items.nr; i++) {
		const char *path = v->items.items[i].text;

		if (*path != '/')
			return err_set(a->err, -EINVAL,
				       "%s:%.200s: an absolute path is needed, with each "
				       "/ as %%2F",
				       tag->name, path);
		if (is_below(path, a->t->o.mountpoint))
			return err_set(a->err, -EINVAL, "%s:%.200s is in this mount",
				       tag->name, path);
		if (stat(path, &st) || !S_ISDIR(st.st_mode))
			return err_set(a->err, -EINVAL, "%s:%.200s isn't a directory",
				       tag->name, path);
	}
	return 0;
}

static int check_value(const struct ask *a, const struct spec_tag *tag,
		       const struct spec_value *v)
{
	if (tag->id == SPEC_IMAGE_PATH || tag->id == SPEC_ROOT)
		return check_dirs(a, tag, v);
	return 0;
}

/* The older side is shown in the same way. */
static int present_base(const struct ask *a, const struct place_base *base,
			const struct spec_tag *tag, struct spec_value *v,
			struct place *to)
{
	struct place side;
	struct spec *spec;
	int rc = place_copy(&base->p, &side);

	if (rc)
		return no_memory(a);
	spec = spec_with(side.spec, tag, v);
	if (!spec) {
		place_fini(&side);
		return no_memory(a);
	}
	spec_put(side.spec);
	side.spec = spec;
	return tree_base_new(base, &side, base->given, &to->base, a->err);
}

int tree_present(const struct ask *a, const struct place *from,
		 const struct spec_tag *tag, const char *raw, struct place *to)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	CLEANUP(spec_putp) struct spec *spec = NULL;
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	int rc = add_words(a, tag->id == SPEC_WITH ? from->spec->values[SPEC_WITH] : NULL,
			   raw, &text);

	if (!rc && tag->kind == SPEC_TAG_PATHS)
		rc = tree_only_owner(a, tag->name);
	rc = rc ? rc : spec_value_new(tag, text.data, false, &v, a->err);
	rc = rc ? rc : check_value(a, tag, v);
	if (rc)
		return rc;
	spec = spec_with(from->spec, tag, v);
	if (!spec)
		return no_memory(a);
	rc = tree_place_init(to, PLACE_PROFILE, from->cat, spec, from->sel, NULL, NULL,
			     a->err);
	if (!rc && from->base)
		rc = present_base(a, from->base, tag, v, to);
	if (rc)
		place_fini(to);
	return rc;
}

/* What to write behind a tag whose values cannot be listed. */
static const char *example(const struct spec_tag *tag)
{
	switch (tag->kind) {
	case SPEC_TAG_PERCENT:
		return "0.5";
	case SPEC_TAG_PATTERNS:
		return tag->id == SPEC_INCLUDE_FILE || tag->id == SPEC_EXCLUDE_FILE
			       ? "*.h"
			       : "main";
	case SPEC_TAG_PATHS:
		return "%2Fusr%2Fsrc";
	default:
		return "intel";
	}
}

int tree_words(const struct ask *a, const struct spec_tag *tag, struct names *out)
{
	if (tag->kind != SPEC_TAG_WORDS)
		return err_set(a->err, -ENOENT,
			       "%s: cannot list its values (%s); write one, as %s:%s",
			       tag->name, tag->doc, tag->name, example(tag));
	for (size_t i = 0; i < SPEC_NR_WORDS; i++)
		if (spec_words[i].tag == tag->id && names_add(out, spec_words[i].name))
			return no_memory(a);
	return 0;
}

/* ---- which files there are */

static bool narrowed(const struct place *p)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (p->spec->values[i] && tree_selects(&spec_tags[i]))
			return true;
	return false;
}

int tree_is_here(const struct ask *a, const struct place *p, const struct report *r)
{
	if (r->session && narrowed(p))
		return err_set(
			a->err, -ENOENT,
			"%s is of a whole session, as %.100s/%s: no tag may select "
			"before it",
			r->name, p->spec->sessions[0], r->name);
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

/* What a file can be asked about before it is made: mostly from catalogs only. */
static int check_profile(const struct ask *a, const struct place *p,
			 const struct report *r, const struct options *o)
{
	struct report_job job = { .o = o, .v = a->v, .syms = a->t->syms };
	struct profile *profile;
	int rc;

	if (!(o->tags & OPTION_TAG(SPLIT)) && !p->base && !r->check)
		return 0;
	rc = pairs_of_both(a, p, &profile);
	if (rc)
		return rc;
	job.p = profile;
	rc = r->check ? r->check(&job, a->err) : 0;
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

int tree_takes(const struct ask *a, const struct place *p, const struct report *r)
{
	struct options o;
	int rc = tree_is_here(a, p, r);

	if (!rc && r->owner && !is_owner(a))
		rc = err_set(a->err, -EACCES,
			     "%s is only for the user who mounted (uid %u): mount for "
			     "yourself, or use opfs cat",
			     r->name, (unsigned)a->t->o.owner);
	if (rc || refuse_nothing(r))
		return rc;
	options_init(&o, p->spec);
	rc = refuse_options(r, &o, a->err);
	return rc ? rc : check_profile(a, p, r, &o);
}

int tree_check(struct tree *t, const struct place *p, const struct viewer *v,
	       struct err *err)
{
	struct err ignored = { 0 };
	struct ask a = { .t = t, .v = v, .err = err ? err : &ignored };

	return p->report ? tree_takes(&a, p, p->report) : 0;
}
