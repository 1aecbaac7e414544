/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/profile/twins.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/opfs/named.h"

static struct sym syms[] = {
	{ .off = 0x00, .size = 8 }, { .off = 0x10, .size = 8 },
	{ .off = 0x20, .size = 8 }, { .off = 0x30, .size = 8 },
	{ .off = 0x40, .size = 8 }, { .off = 0x50, .size = 8 },
	{ .off = 0x60, .size = 8 }, { .off = 0x70, .size = 8 },
};
NAMED(syms, "one", "twin", "_ZN4main4work17h0123456789abcdefE", "twin",
      "_ZN4main4work17hfedcba9876543210E.llvm.42", "_ZN4main4work17h0123456789abcdeXE",
      "twin.llvm.7", "twin.llvm.");
enum { NR = sizeof(syms) / sizeof(syms[0]) };

static struct sym_table table = { .state = SYM_OK, .syms = syms, .nr_syms = NR };
static struct profile_row rows[NR + 1];
static struct profile_image images[1] = { { .used = true, .table = &table } };
static struct profile_twin *twins;

/* Rows of these symbols, up to -1, and one that is none. */
static void twins_of(const int *which)
{
	struct profile p = { .rows = rows, .images = images };

	for (; *which >= 0; which++)
		rows[p.nr_rows++].sym = &syms[*which];
	rows[p.nr_rows++].sym = NULL;
	cr_assert_eq(profile_twins(&p, &twins), 0);
	cr_expect_eq(twins[p.nr_rows - 1].nr, 0);
}

static void forget(void)
{
	free(twins);
}

TestSuite(twins, .fini = forget);

Test(twins, a_function_has_its_rank_among_all_of_its_name_in_the_table)
{
	twins_of((int[]){ 3, 0, -1 });
	cr_expect(twins[0].rank == 1 && twins[0].nr == 3);
	cr_expect(twins[1].rank == 0 && twins[1].nr == 1);
}

Test(twins, a_hash_of_rustc_and_a_module_of_thinlto_are_no_part_of_the_name)
{
	twins_of((int[]){ 2, 4, 6, 1, -1 });
	cr_expect_eq(profile_twin_compare(&twins[0], &twins[1]), 0);
	cr_expect(twins[0].rank == 0 && twins[1].rank == 1 && twins[0].nr == 2);
	cr_expect_eq(profile_twin_compare(&twins[2], &twins[3]), 0);
	cr_expect_lt(profile_twin_compare(&twins[0], &twins[2]), 0);
	cr_expect_gt(profile_twin_compare(&twins[2], &twins[0]), 0);
}

Test(twins, what_only_looks_like_one_belongs_to_the_name)
{
	twins_of((int[]){ 2, 5, 1, 7, -1 });
	cr_expect_neq(profile_twin_compare(&twins[0], &twins[1]), 0);
	cr_expect_neq(profile_twin_compare(&twins[2], &twins[3]), 0);
	cr_expect(twins[1].nr == 1 && twins[3].nr == 1);
}
