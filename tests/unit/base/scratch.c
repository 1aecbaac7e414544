/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/unit/base/scratch.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

int scratch_new(char *dir)
{
	int fd;

	cr_assert_not_null(mkdtemp(dir));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	return fd;
}

void scratch_remove(const char *dir, int fd)
{
	struct err e;

	close(fd);
	cr_expect_eq(file_remove_tree(AT_FDCWD, dir, &e), 0, "%s", e.msg);
	cr_expect_eq(access(dir, F_OK), -1);
}
