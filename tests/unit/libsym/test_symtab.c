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
