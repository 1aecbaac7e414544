/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "opfs/percent.h"
#include "opfs/view_impl.h"

const char *view_image_name(const struct profile *p, const struct view_options *o,
			    uint32_t image)
{
	const struct catalog_image *img = &p->cat->images[image];

	return o->long_filenames ? img->shown : img->base;
}

static bool no_control(unsigned char c)
{
	return c >= 0x20 && c != 0x7f;
}

void view_text(const char *text, struct strbuf *out)
{
	size_t len = 0;

	while (text[len] && no_control((unsigned char)text[len]))
		len++;
	if (text[len])
		escape_add(out, text, strlen(text), no_control);
	else
		strbuf_add(out, text, len);
}

/* Appends the keys that were not named, so that all of them are asked in turn. */
static void complete_keys(struct view_options *o)
{
	bool named[VIEW_NR_KEYS] = { false };
	size_t n = 0;

	for (size_t i = 0; i < o->nr_sort && i < VIEW_NR_KEYS; i++) {
		enum view_key key = o->sort[i];

		if ((unsigned)key < VIEW_NR_KEYS && !named[key]) {
			named[key] = true;
			o->sort[n++] = key;
		}
	}
	for (int key = 0; key < VIEW_NR_KEYS; key++)
		if (!named[key])
			o->sort[n++] = key;
	o->nr_sort = n;
}

static bool reaches(const struct view *v, const struct profile_row *row)
{
	if (v->options.threshold <= 0)
		return true;
	for (size_t c = 0; c < v->p->nr_classes; c++)
		if (percent_of(row->samples[c], v->totals[c]) >= v->options.threshold)
			return true;
	return false;
}

static void choose_rows(struct view *v)
{
	const struct profile *p = v->p;
	size_t n = 0;

	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct profile_row *row = &p->rows[i];

		if (view_excluded(&v->options, row->app, row->image) ||
		    !view_any_sample(row->samples, p->nr_classes))
			continue;
		view_add_samples(v->totals, row->samples, p->nr_classes);
		v->rows[n++] = row;
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = v->rows[i];

		if (!reaches(v, row))
			continue;
		v->show_image = v->show_image || row->image != row->app;
		v->wide_vma = v->wide_vma || row->vma > UINT32_MAX;
		v->rows[v->nr_rows++] = row;
	}
}

/* Applications are counted in every class on its own, before the threshold. */
static bool several_apps(const struct view *v)
{
	const struct profile *p = v->p;

	for (size_t c = 0; c < p->nr_classes; c++) {
		uint32_t first = CATALOG_NO_IMAGE;

		for (size_t i = 0; i < p->nr_pairs; i++) {
			const struct profile_pair *pair = &p->pairs[i];

			if (!pair->samples[c] ||
			    view_excluded(&v->options, pair->app, pair->image))
				continue;
			if (first != CATALOG_NO_IMAGE && first != pair->app)
				return true;
			first = pair->app;
		}
	}
	return false;
}

int view_init(struct view *v, const struct profile *p, const struct view_options *o)
{
	*v = (struct view){ .p = p, .options = *o };
	complete_keys(&v->options);
	v->rows = calloc(p->nr_rows + 1, sizeof(*v->rows));
	v->totals = calloc(p->nr_classes + 1, sizeof(*v->totals));
	if (v->rows && v->totals) {
		choose_rows(v);
		v->show_app = several_apps(v);
		if (!view_sort_rows(v))
			return 0;
	}
	view_fini(v);
	return -ENOMEM;
}

void view_fini(struct view *v)
{
	free(v->rows);
	free(v->totals);
	*v = (struct view){ 0 };
}
