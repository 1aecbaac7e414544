/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/wire/build.h"

static void add(struct sym_build *b, uint64_t off, uint64_t size, const char *name,
		uint32_t flags)
{
	struct sym_cand c = { .off = off,
			      .size = size,
			      .vma = off,
			      .limit = 1000,
			      .name = name,
			      .flags = flags };

	sym_build_add(b, &c);
}

struct pair { /* the first is added first */
	char a[16], b[16];
	uint32_t a_flags, b_flags;
	char shown[16];
};

ParameterizedTestParameters(build, of_aliases_one_is_shown)
{
	static struct pair pairs[] = {
		{ "??.text", "_x", SYM_GLOBAL, 0, "_x" },
		{ "local", "_global", 0, SYM_GLOBAL, "_global" },
		{ "_strong", "weak", SYM_GLOBAL, SYM_GLOBAL | SYM_WEAK, "weak" },
		{ "weak", "strong", SYM_GLOBAL | SYM_WEAK, SYM_GLOBAL, "strong" },
		{ "first", "second", SYM_GLOBAL, SYM_GLOBAL, "first" },
		{ "x@plt", "_local", SYM_PLT, 0, "_local" },
	};

	return cr_make_param_array(struct pair, pairs, sizeof(pairs) / sizeof(pairs[0]));
}

ParameterizedTest(struct pair *p, build, of_aliases_one_is_shown)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };

	add(&b, 10, 4, p->a, p->a_flags);
	add(&b, 10, 4, p->b, p->b_flags);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_assert_eq(b.syms.len, 1);
	cr_expect_str_eq(b.syms.data[0].name, p->shown);
}

Test(build, without_a_size_a_symbol_ends_at_the_next_one_or_its_section)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };

	add(&b, 900, 0, "last", 0);
	add(&b, 10, 0, "first", 0);
	add(&b, 30, 5, "sized", 0);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_assert_eq(b.syms.len, 3);
	cr_expect_eq(b.syms.data[0].size, 20);
	cr_expect(b.syms.data[0].flags & SYM_NOSIZE);
	cr_expect_eq(b.syms.data[1].size, 5);
	cr_expect_eq(b.syms.data[2].size, 100);
}

Test(build, a_label_without_size_ends_with_the_function_around_it)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };

	add(&b, 100, 50, "function", 0);
	add(&b, 120, 0, "label", 0);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_expect_eq(b.syms.data[1].size, 30);
}

Test(build, a_size_is_cut_at_the_end_of_the_section)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };

	add(&b, 990, UINT64_MAX, "huge", 0);
	add(&b, 1000, 1, "outside", 0);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_assert_eq(b.syms.len, 1);
	cr_expect_eq(b.syms.data[0].size, 10);
}

Test(build, the_size_of_an_alias_serves_one_without)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };

	add(&b, 10, 0, "global", SYM_GLOBAL);
	add(&b, 10, 7, "_local", 0);
	add(&b, 500, 1, "next", 0);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_expect_str_eq(b.syms.data[0].name, "global");
	cr_expect_eq(b.syms.data[0].size, 7);
}

Test(build, overlapping_sections_are_cut)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };

	sym_build_section(&b, 50, 100, 0x5000);
	sym_build_section(&b, 0, 80, 0x1000);
	sym_build_section(&b, 60, 10, 0x9000);
	sym_build_section(&b, UINT64_MAX - 3, 100, 0);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_assert_eq(b.sections.len, 2);
	cr_expect_eq(b.sections.data[1].off, 80);
	cr_expect_eq(b.sections.data[1].size, 70);
	cr_expect_eq(b.sections.data[1].vma, 0x5000 + 30);
}

Test(build, names_of_plt_entries_alone_are_no_symbols)
{
	CLEANUP(sym_build_fini) struct sym_build b = { .state = SYM_OK };

	strbuf_puts(&b.path, "/bin/x");
	add(&b, 10, 16, "puts@plt", SYM_PLT);
	cr_assert_eq(sym_build_finish(&b), 0);
	cr_expect_eq(b.state, SYM_NO_SYMBOLS);
	cr_expect(strstr(strbuf_str(&b.reason), "/bin/x: no symbols"));
	cr_expect_eq(b.syms.len, 1);
}
