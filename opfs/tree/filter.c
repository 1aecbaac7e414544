/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/filter.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/name/glob.h"
#include "opfs/profile/regions.h"

/* Symbols by their names: which a tag means, and how they are listed. */

/* The mangled name; of a row that is no symbol, its only name. */
static const char *raw_name(const struct profile_row *row)
{
	return row->sym ? sym_name(row->sym) : row->name;
}

bool tree_is_named(const struct profile_row *row, const char *name)
{
	const char *in_trees = profile_in_trees(row);

	return !strcmp(row->name, name) || !strcmp(raw_name(row), name) ||
	       (in_trees && !strcmp(in_trees, name));
}

/* ---- names as they are listed */

/* What distinguishes symbols of the same spelling. */
enum telling {
	BY_NAME,   /* nothing else is called so */
	BY_RAW,    /* overloads, versions: their mangled names differ */
	BY_OFFSET, /* static functions of several source files: not even these do */
};

static void listed(const struct profile *p, const struct profile_row *row,
		   enum telling by, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf id = { 0 };

	strbuf_puts(&id, raw_name(row));
	if (by == BY_OFFSET && row->sym) {
		uint64_t off = row->sym->off;
		const struct spec_image *region = profile_region_at(p, row->image, &off);

		strbuf_putc(&id, '\n');
		spec_image_show(region ? region : &p->cat->images[row->image].name, &id);
		strbuf_printf(&id, "\n%" PRIx64, off);
	}
	spec_listed(row->name, by != BY_NAME, strbuf_str(&id), out);
}

/* Could this be the name of the row in a listing? */
static bool reads_as(const struct profile *p, const struct profile_row *row,
		     const char *raw)
{
	static const enum telling ways[] = { BY_NAME, BY_RAW, BY_OFFSET };

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		CLEANUP(strbuf_fini) struct strbuf text = { 0 };

		listed(p, row, ways[i], &text);
		if (!strcmp(strbuf_str(&text), raw))
			return true;
	}
	return false;
}

static int compare_strings(const char *a, const char *b)
{
	return a == b ? 0 : strcmp(a, b);
}

/* By name, mangled name, image and place in it. */
static int compare_rows(const void *x, const void *y)
{
	const struct profile_row *a = *(const struct profile_row *const *)x;
	const struct profile_row *b = *(const struct profile_row *const *)y;
	int order = compare_strings(a->name, b->name);

	order = order ? order : compare_strings(raw_name(a), raw_name(b));
	if (order)
		return order;
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	if (!a->sym || !b->sym)
		return !!a->sym - !!b->sym;
	return (a->sym->off > b->sym->off) - (a->sym->off < b->sym->off);
}

/* Do two functions of one image have all names in common? */
static bool are_twins(const struct profile_row *a, const struct profile_row *b)
{
	return a->image == b->image && a->sym && b->sym && a->sym->off != b->sym->off &&
	       !strcmp(sym_name(a->sym), sym_name(b->sym));
}

/* Rows [from, end), sorted, which have the same spelling. */
static enum telling tell_apart(const struct profile_row **rows, size_t from, size_t end)
{
	enum telling by = BY_NAME;

	for (size_t i = from + 1; i < end && by != BY_OFFSET; i++) {
		if (are_twins(rows[i - 1], rows[i]))
			by = BY_OFFSET;
		else if (strcmp(raw_name(rows[i - 1]), raw_name(rows[i])) != 0)
			by = BY_RAW;
	}
	return by;
}

static int add_names(const struct profile *p, const struct profile_row **rows, size_t nr,
		     struct names *out)
{
	for (size_t i = 0, end; i < nr; i = end) {
		enum telling by;

		for (end = i + 1; end < nr && !strcmp(rows[i]->name, rows[end]->name);)
			end++;
		by = tell_apart(rows, i, end);
		for (size_t k = i; k < end; k++) {
			CLEANUP(strbuf_fini) struct strbuf text = { 0 };

			listed(p, rows[k], by, &text);
			if (strbuf_error(&text) || names_add(out, strbuf_str(&text)))
				return -ENOMEM;
		}
	}
	names_sort(out);
	return 0;
}

int tree_list_symbols(const struct profile *p, struct names *out)
{
	CLEANUP(free_ptr) const struct profile_row **rows = NULL;

	rows = calloc(p->nr_rows + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_rows; i++)
		rows[i] = &p->rows[i];
	qsort(rows, p->nr_rows, sizeof(*rows), compare_rows);
	return add_names(p, rows, p->nr_rows, out);
}

/* ---- which rows there are */

/* The same for the rows of one symbol. */
static uint64_t key_of(const struct profile_row *row)
{
	return row->sym ? row->sym->off ^ (uint64_t)row->image << 40 : 0;
}

static int index_names(struct tree_filter *f)
{
	for (size_t i = 0; i < f->names->nr_rows; i++) {
		const struct profile_row *row = &f->names->rows[i];

		if (row->sym && map_u64_set(&f->by_sym, key_of(row), i))
			return -ENOMEM;
	}
	return 0;
}

/* As the source has it, whatever demangle: says. */
static const char *plain_name(const struct tree_filter *f, const struct profile_row *row)
{
	const struct profile_row *like;
	uint64_t i;

	if (f->names == f->p || !row->sym || !map_u64_get(&f->by_sym, key_of(row), &i))
		return row->name;
	like = &f->names->rows[i];
	return like->image == row->image && like->sym->off == row->sym->off ? like->name
									    : row->name;
}

static bool matches(const struct spec_item *item, const char *name)
{
	return item->all || !strcmp(name, item->text) ||
	       (item->glob && spec_glob(item->pattern, name));
}

/* By the name that call trees have for it? */
static bool is_in_trees(const struct spec_item *item, const struct profile_row *row)
{
	const char *name = profile_in_trees(row);

	return name && matches(item, name);
}

/* symbol: names as they are, demangled, and as they are listed. */
static bool is_chosen(const struct tree_filter *f, const struct profile_row *row)
{
	const struct spec_value *v = f->symbol;
	const char *plain = plain_name(f, row);

	if (v->exact)
		return tree_is_named(row, v->text) || !strcmp(plain, v->text);
	for (size_t i = 0; i < v->items.nr; i++)
		if (matches(&v->items.items[i], raw_name(row)) ||
		    matches(&v->items.items[i], plain) ||
		    is_in_trees(&v->items.items[i], row))
			return true;
	return spec_listed_cut(v->raw) && reads_as(f->p, row, v->raw);
}

/* include-symbols: and exclude-symbols: take an item for mangled names; only if none is
 * called so, for demangled ones. */
static int find_verbatim(const struct tree_filter *f, const struct spec_value *v,
			 bool **out)
{
	bool *found = v ? calloc(v->items.nr + 1, sizeof(*found)) : NULL;

	*out = found;
	if (v && !found)
		return -ENOMEM;
	for (size_t i = 0; v && i < v->items.nr; i++)
		for (size_t r = 0; r < f->p->nr_rows && !found[i]; r++)
			found[i] = matches(&v->items.items[i], raw_name(&f->p->rows[r]));
	return 0;
}

static bool is_in_list(const struct tree_filter *f, const struct spec_value *v,
		       const bool *verbatim, const struct profile_row *row)
{
	for (size_t i = 0; i < v->items.nr; i++)
		if (matches(&v->items.items[i],
			    verbatim[i] ? raw_name(row) : plain_name(f, row)) ||
		    is_in_trees(&v->items.items[i], row))
			return true;
	return spec_listed_cut(v->raw) && reads_as(f->p, row, v->raw);
}

int tree_filter_init(struct tree_filter *f, const struct profile *p,
		     const struct profile *names, struct err *err)
{
	int rc;

	f->p = p;
	f->names = names;
	rc = names == p ? 0 : index_names(f);
	rc = rc ? rc : find_verbatim(f, f->include, &f->include_raw);
	rc = rc ? rc : find_verbatim(f, f->exclude, &f->exclude_raw);
	return rc ? err_set(err, rc, "out of memory") : 0;
}

void tree_filter_fini(struct tree_filter *f)
{
	map_u64_fini(&f->by_sym);
	free(f->include_raw);
	free(f->exclude_raw);
}

bool tree_filter_keeps(void *ctx, const struct profile_row *row)
{
	const struct tree_filter *f = ctx;

	if (f->symbol && !is_chosen(f, row))
		return false;
	if (f->exclude && is_in_list(f, f->exclude, f->exclude_raw, row))
		return false;
	return !f->include || is_in_list(f, f->include, f->include_raw, row);
}
