/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/present.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/names.h"
#include "opfs/tree/access.h"

/* ---- values */

/* with: may be given again; its words add up. */
static int add_words(const struct ask *a, const struct spec_value *given, const char *raw,
		     struct strbuf *out)
{
	if (given)
		strbuf_printf(out, "%s,", given->raw);
	strbuf_puts(out, raw);
	return strbuf_error(out) ? ask_no_memory(a) : 0;
}

/* Is it a directory for who asks?  The server itself must not look: it may be root, and
 * the path may lead into its mount. */
static int check_dir(const struct ask *a, const struct spec_tag *tag, const char *path)
{
	CLEANUP(sym_resolved_fini) struct sym_resolved found = { 0 };
	int rc;

	if (*path != '/')
		return err_set(a->err, -EINVAL,
			       "%s:%.200s: an absolute path is needed, with each "
			       "/ as %%2F",
			       tag->name, path);
	if (a->t->o.mountpoint && file_is_below(path, a->t->o.mountpoint))
		return err_set(a->err, -EINVAL, "%s:%.200s is in this mount", tag->name,
			       path);
	rc = sym_server_resolve(a->t->server, path, viewer_cred(a->v),
				viewer_cancel(a->v), &found, a->err);
	if (!rc && !found.is_dir)
		rc = err_set(a->err, -EINVAL, "%s:%.200s isn't a directory", tag->name,
			     path);
	return rc;
}

/* Checks directories that must exist on this machine. */
static int check_dirs(const struct ask *a, const struct spec_tag *tag,
		      const struct spec_value *v)
{
	int rc = viewer_quick(a->v) ? -EAGAIN : 0;

	for (size_t i = 0; i < v->items.nr && !rc; i++)
		rc = check_dir(a, tag, v->items.items[i].text);
	return rc;
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
		return ask_no_memory(a);
	spec = spec_with(side.spec, tag, v);
	if (!spec) {
		place_fini(&side);
		return ask_no_memory(a);
	}
	spec_put(side.spec);
	side.spec = spec;
	return place_base_new(base, &side, base->given, &to->base, a->err);
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
		return ask_no_memory(a);
	rc = place_init(to, PLACE_PROFILE, from->cat, spec, from->sel, NULL, NULL,
			a->err);
	if (!rc && from->base)
		rc = present_base(a, from->base, tag, v, to);
	if (rc)
		place_fini(to);
	return rc;
}

/* An example for a tag whose values cannot be listed. */
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
			return ask_no_memory(a);
	return 0;
}
