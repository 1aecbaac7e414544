/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "tests/unit/base/scratch.h"

Test(dirlist, tells_names_in_order_and_what_each_is)
{
	static const struct dirlist_entry want[] = { { (char *)"a", DT_REG },
						     { (char *)"b", DT_DIR },
						     { (char *)"c", DT_LNK },
						     { (char *)"d", DT_FIFO } };
	char dir[] = "/tmp/opfs-dirlist.XXXXXX";
	int fd = scratch_new(dir);
	CLEANUP(dirlist_fini) struct dirlist types = { 0 };
	CLEANUP(names_fini) struct names names = { 0 };

	cr_assert_eq(mkfifoat(fd, "d", 0600), 0);
	cr_assert_eq(symlinkat("b", fd, "c"), 0);
	cr_assert_eq(mkdirat(fd, "b", 0700), 0);
	cr_assert_eq(mknodat(fd, "a", S_IFREG | 0600, 0), 0);
	cr_assert_eq(dirlist_read_types(fd, &types), 0);
	cr_assert_eq(dirlist_read(fd, &names), 0);
	cr_assert_eq(types.len, 4);
	cr_assert_eq(names.len, 4);
	for (size_t i = 0; i < 4; i++) {
		cr_expect_str_eq(names.data[i], want[i].name);
		cr_expect_str_eq(types.data[i].name, want[i].name);
		/* some file systems do not tell */
		cr_expect(types.data[i].type == want[i].type ||
			  types.data[i].type == DT_UNKNOWN);
	}
	scratch_remove(dir, fd);
}

Test(dirlist, a_directory_that_was_removed_is_empty)
{
	char dir[] = "/tmp/opfs-dirlist.XXXXXX";
	CLEANUP(close_fd) int fd = scratch_new(dir);
	CLEANUP(dirlist_fini) struct dirlist types = { 0 };

	cr_assert_eq(rmdir(dir), 0);
	cr_assert_eq(dirlist_read_rest(fd, &types), 0);
	cr_expect_eq(types.len, 0);
}
