/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/suggest.h"

static const char *nearest(const char *typed)
{
	static const char *const names[] = { "report", "report.tsv", "status",
					     "ls",     "image",      "session-dir" };
	struct nearest n = { .typed = typed };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		nearest_offer(&n, names[i]);
	return n.name;
}

Test(suggest, a_letter_too_much_too_little_wrong_or_swapped_is_one_mistake)
{
	cr_expect_eq(edit_distance("report", "report", 96), 0u);
	cr_expect_eq(edit_distance("reeport", "report", 96), 1u);
	cr_expect_eq(edit_distance("eport", "report", 96), 1u);
	cr_expect_eq(edit_distance("repart", "report", 96), 1u);
	cr_expect_eq(edit_distance("reprot", "report", 96), 1u);
	cr_expect_eq(edit_distance("", "abc", 96), 3u);
	cr_expect_eq(edit_distance("abc", "", 96), 3u);
	cr_expect_eq(edit_distance("ab", "ba", 96), 1u);
	cr_expect_eq(edit_distance("abXX", "abYYYY", 2), 0u);
}

Test(suggest, the_nearest_name_is_told_and_a_distant_one_is_not)
{
	cr_expect_str_eq(nearest("reprot"), "report");
	cr_expect_str_eq(nearest("sl"), "ls");
	cr_expect_str_eq(nearest("STATUS"), "status");
	cr_expect_str_eq(nearest("imgae"), "image");
	cr_expect_str_eq(nearest("sesion_dir"), "session-dir");
	cr_expect_str_eq(nearest("tsv"), "report.tsv");
	cr_expect_null(nearest("nosuch"));
	cr_expect_null(nearest("x"));
	cr_expect_null(nearest(""));
}

Test(suggest, a_name_of_any_length_is_compared)
{
	CLEANUP(free_ptr) char *longer = malloc(100000);

	memset(longer, 'a', 99999);
	longer[99999] = '\0';
	cr_expect_null(nearest(longer));
	cr_expect_eq(typo_distance("report", longer), (unsigned)TYPO_FAR);
}

Test(suggest, a_list_of_all_follows_the_name_that_may_be_meant)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct nearest near = { .typed = "cpus" }, none = { .typed = "tree" };

	nearest_offer(&near, "cpu");
	nearest_tell_all(&near, &out);
	cr_expect_str_eq(strbuf_str(&out), ": did you mean \"cpu\"? There are");
	strbuf_reset(&out);
	nearest_offer(&none, "cpu");
	nearest_tell_all(&none, &out);
	cr_expect_str_eq(strbuf_str(&out), "; there are");
}
