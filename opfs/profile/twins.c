/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/twins.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/vec.h"

/* ---- names that survive a new build */

/* "_ZN4main4work17h0123456789abcdefE": rustc hashes what a function is made from. */
#define RUST_HASH "17h"
enum { RUST_HASH_LEN = sizeof(RUST_HASH) - 1 + 16 + 1 };

static size_t without_rust_hash(const char *name, size_t len)
{
	const char *hash = name + len - RUST_HASH_LEN;

	if (len <= RUST_HASH_LEN || name[len - 1] != 'E' ||
	    strncmp(name, "_ZN", 3) != 0 ||
	    strncmp(hash, RUST_HASH, strlen(RUST_HASH)) != 0)
		return len;
	for (const char *at = hash + strlen(RUST_HASH); at < name + len - 1; at++)
		if (!isdigit((unsigned char)*at) && !(*at >= 'a' && *at <= 'f'))
			return len;
	return len - RUST_HASH_LEN;
}

/* "work.llvm.1234567890": ThinLTO numbers the module that a static function came from. */
static size_t without_module(const char *name, size_t len)
{
	static const char mark[] = ".llvm.";
	size_t end = len;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	if (end == len || end <= strlen(mark) ||
	    strncmp(name + end - strlen(mark), mark, strlen(mark)) != 0)
		return len;
	return end - strlen(mark);
}

static size_t stem_len(const char *name)
{
	return without_rust_hash(name, without_module(name, strlen(name)));
}

int profile_twin_compare(const struct profile_twin *a, const struct profile_twin *b)
{
	uint32_t both = a->len < b->len ? a->len : b->len;
	int order = both ? memcmp(a->stem, b->stem, both) : 0;

	order = order ? order : (a->len > b->len) - (a->len < b->len);
	return order ? order : a->inlined - b->inlined;
}

/* ---- which of several */

struct census {               /* of the functions of one image whose names have samples */
	struct map index;     /* stem -> index into counts */
	VEC(uint32_t) counts; /* of each stem */
	uint32_t *rank;       /* of each symbol */
};

static void census_fini(struct census *c)
{
	map_fini(&c->index);
	vec_fini(&c->counts);
	free(c->rank);
}

/* The count of a stem, or NULL. */
static uint32_t *find_count(const struct census *c, const char *stem, size_t len)
{
	uint64_t at;

	return map_get(&c->index, stem, len, &at) ? &c->counts.data[at] : NULL;
}

static int note_stem(struct census *c, const char *stem, size_t len)
{
	if (find_count(c, stem, len))
		return 0;
	if (map_set(&c->index, stem, len, c->counts.len))
		return -ENOMEM;
	return vec_push(&c->counts, 0);
}

static int count_all(struct census *c, const struct sym_table *t)
{
	c->rank = calloc(t->nr_syms + 1, sizeof(*c->rank));
	if (!c->rank)
		return -ENOMEM;
	for (size_t i = 0; i < t->nr_syms; i++) {
		const char *name = sym_name(&t->syms[i]);
		uint32_t *count = find_count(c, name, stem_len(name));

		if (count)
			c->rank[i] = (*count)++;
	}
	return 0;
}

/* @rows are of one image, which has @t. */
static int image_twins(const struct profile_row *rows, size_t nr,
		       const struct sym_table *t, struct profile_twin *out)
{
	CLEANUP(census_fini) struct census c = { 0 };

	for (size_t i = 0; i < nr; i++) {
		if (!rows[i].sym)
			continue;
		out[i].stem = sym_name(rows[i].sym);
		out[i].len = (uint32_t)stem_len(out[i].stem);
		out[i].inlined = rows[i].sym->flags & SYM_INLINED;
		out[i].nr = 1; /* an inlined one has its name for itself */
		if (note_stem(&c, out[i].stem, out[i].len))
			return -ENOMEM;
	}
	if (!c.counts.len)
		return 0;
	if (count_all(&c, t))
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!rows[i].sym || out[i].inlined)
			continue;
		out[i].rank = c.rank[rows[i].sym - t->syms];
		out[i].nr = *find_count(&c, out[i].stem, out[i].len);
	}
	return 0;
}

int profile_twins(const struct profile *p, struct profile_twin **out)
{
	int rc = 0;

	*out = calloc(p->nr_rows + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0, end; i < p->nr_rows && !rc; i = end) {
		end = profile_image_end(p->rows, p->nr_rows, i);
		rc = image_twins(&p->rows[i], end - i, p->images[p->rows[i].image].table,
				 *out + i);
	}
	return rc;
}
