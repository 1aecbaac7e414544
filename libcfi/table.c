/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/table.h"

#include <errno.h>
#include <string.h>

static bool is_sound(const struct cfi_rule *r)
{
	if (r->kind >= CFI_NR_KINDS || r->base >= CFI_BY_CFA || r->signal > 1)
		return false;
	for (int i = 0; i < CFI_NR_REGS; i++)
		if (r->saved[i].how >= CFI_NR_HOW || r->saved[i].base >= CFI_NR_BASES)
			return false;
	return true;
}

static bool are_sound(const struct cfi_table *t, size_t nr_rules)
{
	for (size_t i = 0; i < t->nr; i++)
		if ((i && t->keys[i] <= t->keys[i - 1]) || t->numbers[i] >= nr_rules)
			return false;
	for (size_t i = 0; i < nr_rules; i++)
		if (!is_sound(&t->rules[i]))
			return false;
	return t->rules[0].kind == CFI_NONE;
}

/* Of keys that ascend. */
static bool index_is_sound(const struct cfi_table *t)
{
	size_t below = 0;

	for (uint32_t page = 0; page < t->nr_pages; page++) {
		if (t->index[page] != below)
			return false;
		while (below < t->nr &&
		       cfi_page(t->keys[below], t->keys[0], t->shift) == page)
			below++;
	}
	return !t->nr || t->index[t->nr_pages] == t->nr;
}

/* Where the parts are.  False: they are not as long as that. */
static bool find_parts(struct cfi_table *t, const struct cfi_header *h)
{
	size_t size = t->size - sizeof(*h), keys = t->nr * sizeof(*t->keys), index = 0;
	size_t numbers = (t->nr * sizeof(*t->numbers) + 3) & ~(size_t)3;

	t->keys = (const void *)(h + 1);
	if (size < keys)
		return false;
	if (t->nr) {
		if (t->keys[t->nr - 1] < t->keys[0])
			return false;
		t->nr_pages =
			(size_t)cfi_page(t->keys[t->nr - 1], t->keys[0], t->shift) + 1;
		index = (t->nr_pages + 1) * sizeof(*t->index);
	}
	t->index = (const void *)(t->keys + t->nr);
	t->numbers = (const void *)((const char *)t->index + index);
	t->rules = (const void *)((const char *)t->numbers + numbers);
	return size == keys + index + numbers + h->nr_rules * sizeof(*t->rules);
}

int cfi_table_init(struct cfi_table *t, const void *bytes, size_t size, struct err *err)
{
	const struct cfi_header *h = bytes;

	*t = (struct cfi_table){ .bytes = bytes, .size = size };
	if (size < sizeof(*h) || memcmp(h->magic, CFI_MAGIC, sizeof(h->magic)) != 0 ||
	    h->machine < CFI_X86_64 || h->machine > CFI_ARM64 ||
	    h->nr_keys > CFI_MAX_KEYS || !h->nr_rules || h->nr_rules > CFI_MAX_RULES ||
	    h->shift > CFI_MAX_SHIFT)
		return err_set(err, -EINVAL, "no unwind table");
	t->machine = (enum cfi_machine)h->machine;
	t->nr = h->nr_keys;
	t->shift = h->shift;
	if (!find_parts(t, h))
		return err_set(err, -EINVAL, "unwind table of another size");
	return are_sound(t, h->nr_rules) && index_is_sound(t)
		       ? 0
		       : err_set(err, -EINVAL, "damaged unwind table");
}

const struct cfi_rule *cfi_table_find(const struct cfi_table *t, uint64_t key)
{
	size_t from, nr;
	const uint32_t *at;
	uint32_t page;

	if (!t->nr || key > UINT32_MAX || key < t->keys[0])
		return &t->rules[0];
	page = cfi_page((uint32_t)key, t->keys[0], t->shift);
	if (page >= t->nr_pages)
		return &t->rules[t->numbers[t->nr - 1]];
	/* the one before the page may reach into it */
	from = t->index[page] ? t->index[page] - 1 : 0;
	at = t->keys + from;
	nr = t->index[page + 1] - from;
	/* the last key that is not above; without branches that depend on keys */
	while (nr > 1) {
		size_t half = nr / 2;

		at += at[half] <= key ? half : 0;
		nr -= half;
	}
	return &t->rules[t->numbers[at - t->keys]];
}

bool cfi_table_empty(const struct cfi_table *t)
{
	return !t->nr;
}
