/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/symtab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "libsym/index.h"

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
	[SYM_FROM_NOTHING] = "nothing",      [SYM_FROM_SYMTAB] = "symtab",
	[SYM_FROM_DEBUGFILE] = "debug file", [SYM_FROM_MINIDEBUG] = "minidebug",
	[SYM_FROM_DYNSYM] = "dynsym",        [SYM_FROM_KALLSYMS] = "kallsyms",
};

const char *sym_state_name(enum sym_state state)
{
	return (unsigned)state < SYM_NR_STATES ? state_names[state] : "?";
}

const char *sym_source_name(enum sym_source source)
{
	return (unsigned)source < SYM_NR_SOURCES ? source_names[source] : "?";
}

const struct sym *sym_find(const struct sym_table *t, uint64_t off)
{
	uint32_t at = sym_index_find(t->index, off);

	return at < t->nr_syms ? &t->syms[at] : NULL;
}

bool sym_vma(const struct sym_table *t, uint64_t off, uint64_t *vma)
{
	size_t lo = 0, hi = t->nr_sections;

	while (lo < hi) { /* the first section behind off */
		size_t mid = lo + (hi - lo) / 2;

		if (t->sections[mid].off <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo || off - t->sections[lo - 1].off >= t->sections[lo - 1].size)
		return false;
	*vma = t->sections[lo - 1].vma + (off - t->sections[lo - 1].off);
	return true;
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
	sym_index_free(t->index);
	free(t); /* syms, sections and names are in the same block */
}

void sym_id_format(const struct sym_id *id, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < id->len && i < sizeof(id->bytes); i++) {
		*out++ = digits[id->bytes[i] >> 4];
		*out++ = digits[id->bytes[i] & 15];
	}
	*out = '\0';
}

int sym_id_parse(const char *hex, struct sym_id *out)
{
	struct sym_id id = { 0 };
	size_t len = strlen(hex);

	if (len % 2 || len / 2 > sizeof(id.bytes))
		return -EINVAL;
	for (size_t i = 0; i < len; i += 2) {
		int hi = escape_hex(hex[i]), lo = escape_hex(hex[i + 1]);

		if (hi < 0 || lo < 0)
			return -EINVAL;
		id.bytes[id.len++] = (uint8_t)(hi << 4 | lo);
	}
	*out = id;
	return 0;
}

bool sym_id_equal(const struct sym_id *a, const struct sym_id *b)
{
	return a->len == b->len && !memcmp(a->bytes, b->bytes, a->len);
}
