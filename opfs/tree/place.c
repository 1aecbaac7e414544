/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree/browse_tree.h"

enum { DIRECTORY = S_IFDIR | 0555, FILE_MODE = S_IFREG | 0444, LINK = S_IFLNK | 0777 };

const struct place_kind_info place_kinds[] = {
	[PLACE_ROOT] = { DIRECTORY, "the root: sessions" },
	[PLACE_PROFILE] = { DIRECTORY, "a profile specification" },
	[PLACE_VALUES] = { DIRECTORY, "the values of a tag" },
	[PLACE_CALLS] = { DIRECTORY, "a function in a call tree" },
	[PLACE_PREFIX] = { DIRECTORY, "the beginning of a path or list, not complete" },
	[PLACE_MORE] = { DIRECTORY, "the slow files of a profile" },
	[PLACE_ENTRIES] = { DIRECTORY, "a directory of a report" },
	[PLACE_EVENTS] = { DIRECTORY, "events that can be sampled" },
	[PLACE_LINK] = { LINK, "a link" },
	[PLACE_FILE] = { FILE_MODE, "a file" },
	[PLACE_ROOT_FILE] = { FILE_MODE, "a file" },
	[PLACE_EVENT_FILE] = { FILE_MODE, "a file" },
};

struct selection *selection_get(struct selection *s)
{
	if (s)
		__atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
	return s;
}

void selection_put(struct selection *s)
{
	if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (s->of)
		selection_put(s->of);
	else
		free(s->files);
	free(s);
}

char *place_text(const char *s, bool *failed)
{
	char *copy = s ? strdup(s) : NULL;

	*failed |= s && !copy;
	return copy;
}

void place_root(struct place *out)
{
	*out = (struct place){ .kind = PLACE_ROOT, .listed = true };
}

void place_fini(struct place *p)
{
	catalog_put(p->cat);
	spec_put(p->spec);
	selection_put(p->sel);
	place_base_put(p->base);
	browse_tree_put(p->browse);
	free(p->value);
	free(p->target);
	free(p->entry);
	free(p->event);
	*p = (struct place){ 0 };
}

int place_copy(const struct place *from, struct place *to)
{
	struct place p = *from;
	bool failed = false;

	p.value = place_text(from->value, &failed);
	p.target = place_text(from->target, &failed);
	p.entry = place_text(from->entry, &failed);
	p.event = place_text(from->event, &failed);
	catalog_get(p.cat);
	spec_get(p.spec);
	selection_get(p.sel);
	place_base_get(p.base);
	browse_tree_get(p.browse);
	if (failed) {
		place_fini(&p);
		return -ENOMEM;
	}
	*to = p;
	return 0;
}

int place_init(struct place *to, enum place_kind kind, struct catalog *cat,
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

struct place_base *place_base_get(struct place_base *b)
{
	if (b)
		__atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
	return b;
}

void place_base_put(struct place_base *b)
{
	if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL))
		return;
	place_fini(&b->p);
	free(b->dir);
	free(b);
}

int place_base_new(const struct place_base *like, struct place *side, uint64_t given,
		   struct place_base **out, struct err *err)
{
	struct place_base *b = calloc(1, sizeof(*b));
	bool failed = false;

	if (b) {
		b->refs = 1;
		b->p = TAKE(*side);
		b->given = given;
		b->dir = place_text(like ? like->dir : NULL, &failed);
	} else {
		place_fini(side);
	}
	if (b && !failed) {
		*out = b;
		return 0;
	}
	place_base_put(b);
	return err_set(err, -ENOMEM, "out of memory");
}

/* ---- what a place shows */

uint64_t place_samples(const struct place *p)
{
	if (p->browse)
		return p->browse->nodes[p->at].total;
	return p->sel ? p->sel->samples : 0;
}

uint64_t place_self(const struct place *p)
{
	return p->browse ? p->browse->nodes[p->at].self : 0;
}

uint64_t place_session_samples(const struct place *p)
{
	return p->cat ? p->cat->total : 0;
}

uint64_t place_mtime_ns(const struct place *p)
{
	return p->cat ? p->cat->drained_ns : 0;
}

static bool same_task(const struct spec_task *a, const struct spec_task *b)
{
	return a->tgid == b->tgid && a->start_ns == b->start_ns &&
	       !strcmp(a->comm ? a->comm : "", b->comm ? b->comm : "");
}

const char *place_image_path(const struct place *p)
{
	bool app = p->spec && p->spec->values[SPEC_IMAGE] != NULL;
	uint32_t image = CATALOG_NO_IMAGE;

	if (!p->sel || (!app && !p->spec->values[SPEC_LIB_IMAGE]))
		return NULL;
	for (size_t i = 0; i < p->sel->nr; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];
		uint32_t its = app ? f->app : f->image;

		if (image != CATALOG_NO_IMAGE && image != its)
			return NULL;
		image = its;
	}
	return image == CATALOG_NO_IMAGE ? NULL : p->cat->images[image].shown;
}

const struct spec_task *place_task(const struct place *p, const struct viewer *reader)
{
	const struct spec_task *task = NULL;
	bool thread;

	if (!p->sel || !p->spec ||
	    (!p->spec->values[SPEC_TGID] && !p->spec->values[SPEC_TID]))
		return NULL;
	thread = p->spec->values[SPEC_TID];
	for (size_t i = 0; i < p->sel->nr; i++) {
		const struct catalog_file *f = &p->cat->files[p->sel->files[i]];
		const struct spec_task *t = catalog_task(p->cat, f, reader);

		t = t && !thread ? t->process : t;
		if (!t || (task && t != task && !same_task(t, task)))
			return NULL;
		task = t;
	}
	return task;
}

bool place_has_stacks(const struct place *p)
{
	for (size_t i = 0; i < p->sel->nr; i++)
		if (p->cat->files[p->sel->files[i]].stacks.nr_nodes)
			return true;
	return false;
}

bool place_narrows(const struct spec *spec)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (spec->values[i] && place_tag_selects(&spec_tags[i]))
			return true;
	return false;
}

/* Is it a call tree of both sides that only the older one has?  Before diff: nothing
 * is called so. */
static bool comes_behind(const struct place *p, size_t tag)
{
	return p->base && p->sel->empty && p->spec->values[tag] &&
	       spec_tags[tag].kind == SPEC_TAG_FRAMES && !(p->base->given & 1ull << tag);
}

static void format_before(const struct place *p, struct strbuf *out)
{
	bool some = p->base && p->sel->empty;
	CLEANUP(spec_putp)
	struct spec *before = some ? spec_with(p->spec, NULL, NULL) : spec_get(p->spec);

	if (!before) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < SPEC_NR_TAGS; i++)
		if (comes_behind(p, i))
			spec_value_put(TAKE(before->values[i]));
	spec_format(before, out);
}

void place_format(const struct place *p, struct strbuf *out)
{
	format_before(p, out);
	if (p->browse) {
		strbuf_printf(out, "/%s:", p->tag->name);
		browse_tree_path(p->browse, p->at, out);
	}
	for (size_t i = 0; p->base && i < SPEC_NR_TAGS; i++) {
		const struct spec_value *here = p->spec->values[i];
		const struct spec_value *there = p->base->p.spec->values[i];

		if (comes_behind(p, i))
			spec_format_value(&spec_tags[i], here, out);
		/* what is the same on both sides was said before diff: */
		if (!(p->base->given & 1ull << i) || (!here && !there) ||
		    (here && there && !strcmp(here->raw, there->raw)))
			continue;
		if (there)
			spec_format_value(&spec_tags[i], there, out);
		else
			strbuf_printf(out, "/%s:all", spec_tags[i].name);
	}
}

static bool is_path(const char *raw)
{
	return strpbrk(raw, "/%");
}

bool place_follows_links(const struct place *p)
{
	if (p->kind == PLACE_PREFIX && p->value && is_path(p->value))
		return true;
	for (size_t i = 0; p->spec && i < SPEC_NR_TAGS; i++) {
		const struct spec_value *v = p->spec->values[i];

		if (v && spec_tags[i].kind == SPEC_TAG_IMAGES && !v->exact &&
		    is_path(v->raw))
			return true;
	}
	return false;
}
