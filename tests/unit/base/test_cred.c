/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cred.h"

#include <criterion/criterion.h>
#include <unistd.h>

Test(cred, this_process_is_recognized_by_all_its_groups)
{
	gid_t groups[65] = { 0 };
	int nr = getgroups(64, groups);
	struct cred own = { .uid = geteuid(), .gid = getegid(), .groups = groups };
	struct cred other;

	cr_assert_geq(nr, 0);
	own.nr_groups = (size_t)nr;
	cr_expect(cred_is_own(&own));
	other = own;
	other.uid++;
	cr_expect_not(cred_is_own(&other));
	other = own;
	other.gid++;
	cr_expect_not(cred_is_own(&other));
	other = own;
	other.nr_groups++;
	cr_expect_not(cred_is_own(&other));
	groups[0]++;
	cr_expect(!nr || !cred_is_own(&own));
}
