/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/candidates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Looking at files one after another takes less than finding them in an index. */
enum { WORTH = 4 };

/* What a tag says of files, and the indices that have it. */
struct source {
	enum spec_tag_id tag;
	enum catalog_index_id in[2]; /* files of either */
	size_t nr;
};

static const struct source sources[] = {
	{ SPEC_DEFAULT, { CATALOG_BY_APP, CATALOG_BY_IMAGE }, 2 },
	{ SPEC_IMAGE, { CATALOG_BY_APP }, 1 },
	{ SPEC_LIB_IMAGE, { CATALOG_BY_IMAGE }, 1 },
	{ SPEC_TGID, { CATALOG_BY_TGID }, 1 },
	{ SPEC_TID, { CATALOG_BY_TID }, 1 },
	{ SPEC_CPU, { CATALOG_BY_CPU }, 1 },
};
enum { NR_SOURCES = sizeof(sources) / sizeof(sources[0]) };

struct gathering {
	const struct catalog *cat;
	uint32_t *out; /* NULL: only counts */
	size_t nr, max;
};

/* False once there are more than are wanted. */
static bool add(struct gathering *g, const struct source *s, uint64_t key)
{
	for (size_t i = 0; i < s->nr; i++) {
		size_t nr;
		const uint32_t *files = catalog_indexed(g->cat, s->in[i], key, &nr);

		if (nr > g->max - g->nr)
			return false;
		if (g->out && nr)
			memcpy(g->out + g->nr, files, nr * sizeof(*files));
		g->nr += nr;
	}
	return true;
}

/* False: the tag is not given, or leaves too many. */
static bool gather(struct gathering *g, const struct source *s,
		   const struct spec_select *by)
{
	const struct spec_value *v = by->spec->values[s->tag];
	const bool *bits = by->bits[s->tag];
	bool few = v && (bits || !v->all);

	for (size_t i = 0; few && bits && i < g->cat->nr_images; i++)
		if (bits[i])
			few = add(g, s, i);
	for (size_t i = 0; few && !bits && i < v->nr_numbers; i++)
		few = add(g, s, v->numbers[i]);
	return few;
}

static int compare(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

static bool has(const struct selection *of, uint32_t file)
{
	return bsearch(&file, of->files, of->nr, sizeof(file), compare);
}

/* In order, each once, and only those of @of. */
static size_t tidy(uint32_t *files, size_t nr, const struct selection *of)
{
	size_t kept = 0;

	qsort(files, nr, sizeof(*files), compare);
	for (size_t i = 0; i < nr; i++)
		if ((!kept || files[kept - 1] != files[i]) && (!of || has(of, files[i])))
			files[kept++] = files[i];
	return kept;
}

int candidates_find(const struct catalog *cat, const struct spec_select *by,
		    const struct selection *of, struct candidates *out)
{
	struct gathering g = { .cat = cat };
	const struct source *best = NULL;
	size_t most;

	*out = (struct candidates){ .files = of ? of->files : NULL,
				    .nr = of ? of->nr : cat->nr_flat };
	most = out->nr / WORTH;
	for (size_t i = 0; i < NR_SOURCES; i++) {
		g.nr = 0;
		g.max = most;
		if (!gather(&g, &sources[i], by))
			continue;
		best = &sources[i];
		most = g.nr;
	}
	if (!best)
		return 0;
	g = (struct gathering){ .cat = cat, .max = most };
	out->own = g.out = calloc(most + 1, sizeof(*g.out));
	if (!g.out)
		return -ENOMEM;
	gather(&g, best, by);
	out->files = g.out;
	out->nr = tidy(g.out, g.nr, of && of->nr < cat->nr_flat ? of : NULL);
	return 0;
}

void candidates_fini(struct candidates *c)
{
	free(c->own);
	*c = (struct candidates){ 0 };
}
