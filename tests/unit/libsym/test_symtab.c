/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "libsym/table/symtab.h"

Test(symtab, every_state_and_source_has_a_name)
{
	for (unsigned i = 0; i < SYM_NR_STATES; i++)
		cr_expect(*sym_state_name((enum sym_state)i) > ' ');
	for (unsigned i = 0; i < SYM_NR_SOURCES; i++)
		cr_expect(*sym_source_name((enum sym_source)i) > ' ');
	cr_expect_str_eq(sym_state_name((enum sym_state)99), "?");
}

Test(symtab, better_names_outrank_entries_and_these_none)
{
	static const struct {
		enum sym_state state;
		enum sym_source source;
		size_t nr_entries;
	} tables[] = { /* the worst first */
		       { SYM_CHANGED, SYM_FROM_SYMTAB, 5 },
		       { SYM_NO_SYMBOLS, SYM_FROM_NOTHING, 0 },
		       { SYM_NO_SYMBOLS, SYM_FROM_DYNSYM, 5 },
		       { SYM_OK, SYM_FROM_DYNSYM, 0 },
		       { SYM_OK, SYM_FROM_DYNSYM, 5 },
		       { SYM_UNCHECKED, SYM_FROM_MINIDEBUG, 0 },
		       { SYM_OK, SYM_FROM_MINIDEBUG, 5 },
		       { SYM_OK, SYM_FROM_DEBUGFILE, 0 }
	};
	unsigned last = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct sym_table t = { .state = tables[i].state,
					     .source = tables[i].source,
					     .nr_entries = tables[i].nr_entries };
		unsigned rank = sym_table_rank(&t);

		cr_expect(i ? rank > last : !rank, "%zu: %u after %u", i, rank, last);
		cr_expect_eq(rank >= SYM_BEST, tables[i].source == SYM_FROM_DEBUGFILE);
		last = rank;
	}
}

Test(symtab, addresses_come_from_the_section_that_holds_the_offset)
{
	static const struct sym_section sections[] = {
		{ .off = 0, .size = 16, .vma = 0x400000 },
		{ .off = 16, .size = 16, .vma = 0x700000 },
		{ .off = 64, .size = 8, .vma = 0x10 },
	};
	struct sym_table t = { .sections = sections, .nr_sections = 3 };
	uint64_t vma = 1;

	cr_expect(sym_vma(&t, 15, &vma) && vma == 0x40000f);
	cr_expect(sym_vma(&t, 16, &vma) && vma == 0x700000);
	cr_expect(!sym_vma(&t, 32, &vma));
	cr_expect(sym_vma(&t, 71, &vma) && vma == 0x17);
	cr_expect(!sym_vma(&t, 72, &vma));
}
