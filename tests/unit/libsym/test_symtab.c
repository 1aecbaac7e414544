/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>

#include "libsym/symtab.h"

Test(symtab, build_ids_survive_text)
{
	struct sym_id id = { 0 }, again = { 0 };
	char hex[65];

	cr_assert_eq(sym_id_parse("00ffa5DE", &id), 0);
	cr_expect_eq(id.len, 4);
	sym_id_format(&id, hex);
	cr_expect_str_eq(hex, "00ffa5de");
	cr_assert_eq(sym_id_parse(hex, &again), 0);
	cr_expect(sym_id_equal(&id, &again));
	again.bytes[3] ^= 1;
	cr_expect(!sym_id_equal(&id, &again));
}

Test(symtab, an_id_that_is_none_is_refused)
{
	struct sym_id id = { .len = 3 };
	char longest[67] = { 0 };

	for (int i = 0; i < 66; i++)
		longest[i] = 'a';
	cr_expect_eq(sym_id_parse("abc", &id), -EINVAL);
	cr_expect_eq(sym_id_parse("zz", &id), -EINVAL);
	cr_expect_eq(sym_id_parse(longest, &id), -EINVAL);
	cr_expect_eq(id.len, 3, "untouched on failure");
	cr_expect_eq(sym_id_parse("", &id), 0);
	cr_expect_eq(id.len, 0);
}

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
