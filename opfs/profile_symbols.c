/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

/* From sample files to rows by symbol: nodes are read in blocks and counted in arrays. */

enum { BLOCK_NODES = 4096 };

struct bins { /* counters of one image in one application; slot nr_syms: no symbol */
	const struct sym_table *table;
	size_t nr_classes, nr_slots;
	uint64_t *counts;  /* [slot][class] */
	uint32_t *touched; /* slots that are not zero */
	size_t nr_touched;
	bool *seen; /* slot is in @touched */
	struct spec_sample_node *block;
};

static void bins_fini(struct bins *n)
{
	free(n->counts);
	free(n->touched);
	free(n->seen);
	free(n->block);
}

static int bins_init(struct bins *n, const struct sym_table *table, size_t nr_classes)
{
	n->table = table;
	n->nr_classes = nr_classes;
	n->nr_slots = table->nr_syms + 1;
	n->counts = calloc(n->nr_slots, nr_classes * sizeof(*n->counts));
	n->touched = calloc(n->nr_slots, sizeof(*n->touched));
	n->seen = calloc(n->nr_slots, sizeof(*n->seen));
	n->block = calloc(BLOCK_NODES, sizeof(*n->block));
	return n->counts && n->touched && n->seen && n->block ? 0 : -ENOMEM;
}

static void count_nodes(struct bins *n, size_t nr, uint32_t class)
{
	for (size_t i = 0; i < nr; i++) {
		const struct spec_sample_node *node = &n->block[i];
		const struct sym *sym =
			sym_find(n->table, node->key + n->table->text_off);
		size_t slot = sym ? (size_t)(sym - n->table->syms) : n->nr_slots - 1;

		if (!node->value)
			continue;
		if (!n->seen[slot]) {
			n->seen[slot] = true;
			n->touched[n->nr_touched++] = (uint32_t)slot;
		}
		n->counts[slot * n->nr_classes + class] += node->value;
	}
}

static int note_bad(struct profile_build *b, const char *path, const char *reason)
{
	struct catalog_bad bad = {
		.path = arena_strdup(&b->p->arena, path),
		.reason = arena_strdup(&b->p->arena, reason),
	};

	if (!bad.path || !bad.reason || vec_push(&b->bad, bad))
		return profile_no_memory(b);
	return 0;
}

/* A file that went bad since the catalog was made counts as far as it can be read. */
static int count_file(struct profile_build *b, struct bins *n,
		      const struct profile_pick *pick)
{
	CLEANUP(spec_sample_fini) struct spec_sample_reader r = { 0 };
	const struct catalog_file *f = pick->file;
	struct err why = { 0 };
	ssize_t got = 0;
	int rc;

	if (viewer_gone(b->v))
		return profile_interrupted(b);
	rc = catalog_samples(b->p->cat, f, &r, &why);
	if (rc)
		return rc == -ENOMEM ? rc : note_bad(b, f->path, why.msg);
	for (uint32_t at = 0; at < r.nr_nodes; at += (uint32_t)got) {
		got = spec_sample_read(&r, at, n->block, BLOCK_NODES, &why);
		if (got <= 0)
			break;
		count_nodes(n, (size_t)got, pick->class);
		if (viewer_gone(b->v))
			return profile_interrupted(b);
	}
	return got < 0 ? note_bad(b, f->path, why.msg) : 0;
}

static struct profile_row *add_row(struct profile_build *b,
				   const struct profile_pick *pick,
				   enum profile_row_kind kind, const char *name)
{
	struct profile_row row = {
		.kind = kind,
		.app = pick->file->app,
		.image = pick->file->image,
		.name = name,
		.samples = arena_calloc(&b->p->arena, b->p->nr_classes, sizeof(uint64_t)),
	};

	if (!row.samples || vec_push(&b->rows, row))
		return NULL;
	return &b->rows.data[b->rows.len - 1];
}

/* The row of a slot that has samples; @pick is of its application and image. */
static struct profile_row *row_of_slot(struct profile_build *b, const struct bins *n,
				       const struct profile_pick *pick, size_t slot)
{
	const struct sym *sym = slot < n->nr_slots - 1 ? &n->table->syms[slot] : NULL;
	enum profile_row_kind kind = PROFILE_ROW_SYMBOL;
	const char *name = "(no symbol)";
	struct profile_row *row;

	if (sym) {
		name = sym->name;
	} else if (profile_stripped(n->table)) {
		kind = PROFILE_ROW_IMAGE;
		name = b->p->cat->images[pick->file->image].shown;
	} else {
		kind = PROFILE_ROW_NONE;
	}
	row = add_row(b, pick, kind, name);
	if (!row)
		return NULL;
	row->sym = sym;
	row->vma = sym ? sym->vma : 0;
	return row;
}

/* Moves the counters into rows and leaves them zero for the next application. */
static int empty_bins(struct profile_build *b, struct bins *n,
		      const struct profile_pick *pick)
{
	size_t bytes = n->nr_classes * sizeof(*n->counts);

	for (size_t i = 0; i < n->nr_touched; i++) {
		size_t slot = n->touched[i];
		struct profile_row *row = row_of_slot(b, n, pick, slot);

		if (!row)
			return profile_no_memory(b);
		memcpy(row->samples, &n->counts[slot * n->nr_classes], bytes);
		memset(&n->counts[slot * n->nr_classes], 0, bytes);
		n->seen[slot] = false;
	}
	n->nr_touched = 0;
	return 0;
}

/* Picks [i, end) are of one image, whose symbols are known. */
static int count_image(struct profile_build *b, size_t i, size_t end,
		       const struct sym_table *table)
{
	CLEANUP(bins_fini) struct bins n = { 0 };
	int rc;

	if (bins_init(&n, table, b->p->nr_classes))
		return profile_no_memory(b);
	while (i < end) {
		size_t next = profile_picks_end(b, i, true);

		for (size_t k = i; k < next; k++) {
			rc = count_file(b, &n, &b->picks[k]);
			if (rc)
				return rc;
		}
		rc = empty_bins(b, &n, &b->picks[i]);
		if (rc)
			return rc;
		i = next;
	}
	return 0;
}

/* The same for an image that is shown as itself: the catalog knows its totals. */
static int count_whole(struct profile_build *b, size_t i, size_t end)
{
	const struct catalog_image *img = &b->p->cat->images[b->picks[i].file->image];

	while (i < end) {
		size_t next = profile_picks_end(b, i, true);
		struct profile_row *row =
			add_row(b, &b->picks[i], PROFILE_ROW_IMAGE, img->shown);

		if (!row)
			return profile_no_memory(b);
		for (; i < next; i++)
			row->samples[b->picks[i].class] += b->picks[i].file->total;
	}
	return 0;
}

int profile_count(struct profile_build *b)
{
	int rc = 0;

	for (size_t i = 0, end; i < b->nr_picks && !rc; i = end) {
		const struct sym_table *table =
			b->p->images[b->picks[i].file->image].table;

		end = profile_picks_end(b, i, false);
		rc = table ? count_image(b, i, end, table) : count_whole(b, i, end);
	}
	return rc;
}

/* ---- names */

/* Whether a name may be mangled (C++, Rust, D); a helper is asked for no others. */
static bool may_be_mangled(const char *name)
{
	while (name[0] == '_' && name[1] == '_')
		name++;
	return name[0] == '_' &&
	       (name[1] == 'Z' || name[1] == 'R' || name[1] == 'D' || name[1] == 'G');
}

/* The mangled names of sampled symbols, each once: image by image, as rows are. */
struct mangled {
	VEC(const char *) names;
	uint32_t *of_sym; /* of the image at hand: 1 + index into names, 0: none yet */
	uint32_t *of_row; /* the same for every row */
};

static void mangled_fini(struct mangled *m)
{
	vec_fini(&m->names);
	free(m->of_sym);
	free(m->of_row);
}

/* @rows are of one image; @of_row is theirs. */
static int collect_image(struct mangled *m, const struct profile_row *rows, size_t nr,
			 const struct sym_table *table, uint32_t *of_row)
{
	for (size_t i = 0; i < nr; i++) {
		const struct sym *sym = rows[i].sym;
		uint32_t *slot;

		if (!sym || !may_be_mangled(sym->name))
			continue;
		slot = &m->of_sym[sym - table->syms];
		if (!*slot) {
			if (vec_push(&m->names, sym->name))
				return -ENOMEM;
			*slot = (uint32_t)m->names.len;
		}
		of_row[i] = *slot;
	}
	return 0;
}

static size_t rows_of_image(const struct profile_build *b, size_t i)
{
	uint32_t image = b->rows.data[i].image;
	size_t end = i;

	while (end < b->rows.len && b->rows.data[end].image == image)
		end++;
	return end - i;
}

static int collect_names(const struct profile_build *b, struct mangled *m)
{
	int rc = 0;

	m->of_row = calloc(b->rows.len + 1, sizeof(*m->of_row));
	if (!m->of_row)
		return -ENOMEM;
	for (size_t i = 0, nr; i < b->rows.len && !rc; i += nr) {
		const struct profile_row *rows = &b->rows.data[i];
		const struct sym_table *table = b->p->images[rows->image].table;

		nr = rows_of_image(b, i);
		if (!table)
			continue;
		free(m->of_sym);
		m->of_sym = calloc(table->nr_syms + 1, sizeof(*m->of_sym));
		rc = m->of_sym ? collect_image(m, rows, nr, table, m->of_row + i)
			       : -ENOMEM;
	}
	return rc;
}

int profile_name_rows(struct profile_build *b)
{
	CLEANUP(mangled_fini) struct mangled m = { 0 };
	int rc;

	if (collect_names(b, &m))
		return profile_no_memory(b);
	if (!m.names.len)
		return 0;
	rc = sym_server_demangle(sym_cache_server(b->syms), m.names.data, m.names.len,
				 SYM_DEMANGLE_NORMAL, b->v ? b->v->cancel : NULL,
				 &b->p->names, NULL);
	if (rc == -EINTR)
		return profile_interrupted(b);
	if (rc == -ENOMEM)
		return profile_no_memory(b);
	for (size_t i = 0; i < b->rows.len && !rc; i++)
		if (m.of_row[i])
			b->rows.data[i].name = b->p->names->name[m.of_row[i] - 1];
	return 0; /* a name broke the demangler: all stay as they are */
}
