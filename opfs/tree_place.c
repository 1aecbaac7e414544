/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree_impl.h"

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
	tree_base_put(p->base);
	free(p->value);
	free(p->target);
	free(p->entry);
	*p = (struct place){ 0 };
}

int place_copy(const struct place *from, struct place *to)
{
	struct place p = *from;
	bool failed = false;

	p.value = tree_copy(from->value, &failed);
	p.target = tree_copy(from->target, &failed);
	p.entry = tree_copy(from->entry, &failed);
	if (failed) {
		free(p.value);
		free(p.target);
		free(p.entry);
		return -ENOMEM;
	}
	catalog_get(p.cat);
	spec_get(p.spec);
	selection_get(p.sel);
	tree_base_get(p.base);
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

/* ---- the older side of diff: */

struct place_base *tree_base_get(struct place_base *b)
{
	if (b)
		__atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
	return b;
}

void tree_base_put(struct place_base *b)
{
	if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL))
		return;
	place_fini(&b->p);
	free(b->dir);
	free(b);
}

int tree_base_new(const struct place_base *like, struct place *side, uint64_t given,
		  struct place_base **out, struct err *err)
{
	struct place_base *b = calloc(1, sizeof(*b));
	bool failed = false;

	if (b) {
		b->refs = 1;
		b->p = TAKE(*side);
		b->given = given;
		b->dir = tree_copy(like ? like->dir : NULL, &failed);
	} else {
		place_fini(side);
	}
	if (b && !failed) {
		*out = b;
		return 0;
	}
	tree_base_put(b);
	return err_set(err, -ENOMEM, "out of memory");
}
