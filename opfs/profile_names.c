/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile_build.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

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
				 b->q->demangle, b->v ? b->v->cancel : NULL, &b->p->names,
				 NULL);
	if (rc == -EINTR)
		return profile_interrupted(b);
	if (rc == -ENOMEM)
		return profile_no_memory(b);
	for (size_t i = 0; i < b->rows.len && !rc; i++)
		if (m.of_row[i])
			b->rows.data[i].name = b->p->names->name[m.of_row[i] - 1];
	return 0; /* a name broke the demangler: all stay as they are */
}
