/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/view.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
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

const char *view_file_name(const struct view_options *o, const char *file)
{
	const char *slash = o->long_filenames ? NULL : strrchr(file, '/');

	return slash ? slash + 1 : file;
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

void view_place(const struct view_options *o, const struct line_place *at,
		struct strbuf *out)
{
	if (!at || !at->file) {
		strbuf_puts(out, "(no location information)");
		return;
	}
	view_text(view_file_name(o, at->file), out);
	strbuf_printf(out, ":%" PRIu32, at->line);
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

/* In a comparison the change is asked; what is on one side only always passes. */
static bool changed_enough(const struct view *v, const struct profile_row *row)
{
	if (profile_changed(row->samples, row->was, row->gone, 0) != PROFILE_BOTH)
		return true;
	return fabs(profile_growth(row->samples[0], v->totals[0], row->was[0],
				   v->was_totals[0])) >= v->options.threshold;
}

static bool reaches(const struct view *v, const struct profile_row *row)
{
	if (v->options.threshold <= 0)
		return true;
	if (v->p->base && v->p->nr_classes)
		return changed_enough(v, row);
	for (size_t c = 0; c < v->p->nr_classes; c++)
		if (percent_of(row->samples[c], v->totals[c]) >= v->options.threshold)
			return true;
	return false;
}

/* What the columns of a row, or of a mere end of arcs, need. */
static void note_columns(struct view *v, const struct profile_row *row)
{
	v->show_image = v->show_image || row->image != row->app;
	v->wide_vma = v->wide_vma || row->vma > UINT32_MAX;
}

static void choose_rows(struct view *v)
{
	const struct profile *p = v->p;
	size_t n = 0;

	for (size_t i = 0; i < p->nr_rows; i++) {
		const struct profile_row *row = &p->rows[i];

		if (view_excluded(&v->options, row->app, row->image))
			continue;
		if (v->options.only_called)
			note_columns(v, row);
		else if (!profile_any_sample(row->samples, p->nr_classes))
			continue;
		if (row->aside)
			continue;
		if (!row->gone)
			view_add_samples(v->totals, row->samples, p->nr_classes);
		if (row->was)
			view_add_samples(v->was_totals, row->was, p->nr_classes);
		v->rows[n++] = row;
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = v->rows[i];

		if (!reaches(v, row))
			continue;
		note_columns(v, row);
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
	v->was_totals = calloc(p->nr_classes + 1, sizeof(*v->was_totals));
	if (v->rows && v->totals && v->was_totals) {
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
	free(v->was_totals);
	*v = (struct view){ 0 };
}
