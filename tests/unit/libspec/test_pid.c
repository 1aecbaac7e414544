/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "libspec/name/pid.h"

static const char *shown(int64_t stored)
{
	static struct strbuf out;

	strbuf_reset(&out);
	spec_pid_show(stored, &out);
	return strbuf_str(&out);
}

Test(pid, numbers_that_were_used_before_are_told_apart)
{
	cr_expect_str_eq(shown(0), "0");
	cr_expect_str_eq(shown(7), "7");
	cr_expect_str_eq(shown(4194303), "4194303");
	cr_expect_str_eq(shown(spec_pid_stored(7, 1)), "7.2");
	cr_expect_str_eq(shown(spec_pid_stored(4194303, 511)), "4194303.512");
	cr_expect_str_eq(shown(-1), "-1");
	cr_expect_eq(spec_pid_stored(7, 0), 7);
	cr_expect_eq(spec_pid_stored(7, 512), 7); /* more than anybody counts */
}

Test(pid, what_is_shown_is_read_back)
{
	static const uint32_t uses[] = { 0, 1, 2, 511 };
	uint64_t back;

	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		uint32_t stored = spec_pid_stored(12345, uses[i]);

		cr_expect(spec_pid_parse(shown(stored), &back));
		cr_expect_eq(back, stored);
	}
	cr_expect(spec_pid_parse("4194311", &back)); /* as OProfile's tools show it */
	cr_expect_eq(back, spec_pid_stored(7, 1));
}

Test(pid, anything_else_is_none)
{
	static const char *const bad[] = {
		"",      ".",   ".2",   "7.",        "7.0",   "7.1",
		"7.513", "7.x", "7.-2", "4194304.2", "7.2.3", "99999999999999999999.2"
	};
	uint64_t back;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_expect_not(spec_pid_parse(bad[i], &back), "%s", bad[i]);
}
