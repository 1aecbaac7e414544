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

int cfi_table_init(struct cfi_table *t, const void *bytes, size_t size, struct err *err)
{
	const struct cfi_header *h = bytes;
	size_t numbers;

	*t = (struct cfi_table){ .bytes = bytes, .size = size };
	if (size < sizeof(*h) || memcmp(h->magic, CFI_MAGIC, sizeof(h->magic)) != 0 ||
	    h->machine < CFI_X86_64 || h->machine > CFI_ARM64 ||
	    h->nr_keys > CFI_MAX_KEYS || !h->nr_rules || h->nr_rules > CFI_MAX_RULES)
		return err_set(err, -EINVAL, "no unwind table");
	t->machine = (enum cfi_machine)h->machine;
	t->nr = h->nr_keys;
	numbers = (t->nr * sizeof(*t->numbers) + 3) & ~(size_t)3;
	if (size != sizeof(*h) + t->nr * sizeof(*t->keys) + numbers +
			    h->nr_rules * sizeof(*t->rules))
		return err_set(err, -EINVAL, "unwind table of another size");
	t->keys = (const void *)(h + 1);
	t->numbers = (const void *)(t->keys + t->nr);
	t->rules = (const void *)((const char *)t->numbers + numbers);
	return are_sound(t, h->nr_rules) ? 0
					 : err_set(err, -EINVAL, "damaged unwind table");
}

const struct cfi_rule *cfi_table_find(const struct cfi_table *t, uint64_t key)
{
	const uint32_t *at = t->keys;
	size_t nr = t->nr;

	if (!nr || key > UINT32_MAX || key < *at)
		return &t->rules[0];
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
