/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/table/symtab.h"

#include <stdlib.h>
#include <string.h>

#include "libsym/table/index.h"

static const char *const state_names[SYM_NR_STATES] = {
	[SYM_OK] = "ok",
	[SYM_UNCHECKED] = "unchecked",
	[SYM_NO_SYMBOLS] = "no symbols",
	[SYM_MISSING] = "missing",
	[SYM_UNREADABLE] = "unreadable",
	[SYM_NOT_ELF] = "not ELF",
	[SYM_CHANGED] = "changed",
	[SYM_BROKEN] = "broken",
};

static const char *const source_names[SYM_NR_SOURCES] = {
	[SYM_FROM_NOTHING] = "nothing",
	[SYM_FROM_SYMTAB] = "symtab",
	[SYM_FROM_DEBUGFILE] = "debug file",
	[SYM_FROM_MINIDEBUG] = "minidebug",
	[SYM_FROM_DYNSYM] = "dynsym",
	[SYM_FROM_KALLSYMS] = "kallsyms",
	[SYM_FROM_JIT] = "names of code made at run time",
};

const char *sym_state_name(enum sym_state state)
{
	return (unsigned)state < SYM_NR_STATES ? state_names[state] : "?";
}

const char *sym_source_name(enum sym_source source)
{
	return (unsigned)source < SYM_NR_SOURCES ? source_names[source] : "?";
}

unsigned sym_table_rank(const struct sym_table *t)
{
	static const unsigned char ranks[SYM_NR_SOURCES] = {
		[SYM_FROM_NOTHING] = 2,          [SYM_FROM_DYNSYM] = 4,
		[SYM_FROM_MINIDEBUG] = 6,        [SYM_FROM_SYMTAB] = SYM_BEST,
		[SYM_FROM_DEBUGFILE] = SYM_BEST, [SYM_FROM_KALLSYMS] = SYM_BEST,
		[SYM_FROM_JIT] = SYM_BEST,
	};
	unsigned rank = sym_usable(t->state) ? ranks[t->source] : 0;

	if (t->state == SYM_NO_SYMBOLS) /* the right file, which tells addresses */
		rank = ranks[SYM_FROM_NOTHING];
	return rank && t->nr_entries ? rank + 1 : rank;
}

const struct sym *sym_find(const struct sym_table *t, uint64_t off)
{
	uint32_t at = sym_index_find(t->index, off);

	return at < t->nr_syms ? &t->syms[at] : NULL;
}

/* @all: by off, disjoint.  NULL: none of them has it. */
static const struct sym_section *find_section(const struct sym_section *all, size_t nr,
					      uint64_t off)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) { /* the first section behind off */
		size_t mid = lo + (hi - lo) / 2;

		if (all[mid].off <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && off - all[lo - 1].off < all[lo - 1].size ? &all[lo - 1] : NULL;
}

const struct sym_section *sym_entry_find(const struct sym_table *t, uint64_t off)
{
	return find_section(t->entries, t->nr_entries, off);
}

bool sym_vma(const struct sym_table *t, uint64_t off, uint64_t *vma)
{
	const struct sym_section *s = find_section(t->sections, t->nr_sections, off);

	if (s)
		*vma = s->vma + (off - s->off);
	return s;
}

struct sym_table *sym_table_get(struct sym_table *t)
{
	__atomic_add_fetch(&t->refs, 1, __ATOMIC_RELAXED);
	return t;
}

void sym_table_put(struct sym_table *t)
{
	if (!t || __atomic_sub_fetch(&t->refs, 1, __ATOMIC_ACQ_REL))
		return;
	if (t->release)
		t->release(t->image, t->image_len);
	free(t);
}
