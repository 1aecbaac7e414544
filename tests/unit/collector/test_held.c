/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "collector/who/held.h"

static int open_one(void)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	cr_assert_geq(fd, 0);
	return fd;
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

Test(held, a_file_is_held_once_and_so_many_at_most)
{
	struct coll_held h = { 0 };
	int fd = open_one(), again = dup(fd), last = -1;

	coll_held_add(&h, fd, 1);
	coll_held_add(&h, again, 1);
	cr_expect_eq(h.files.len, 1);
	cr_expect(!is_open(again));
	for (int i = 0; i < 300; i++)
		coll_held_add(&h, last = open_one(), 1);
	cr_expect_leq(h.files.len, 256);
	cr_expect(!is_open(last));
	coll_held_fini(&h);
	cr_expect(!is_open(fd));
	h.none = true;
	fd = open_one();
	coll_held_add(&h, fd, 1);
	cr_expect(!is_open(fd));
	coll_held_fini(&h);
}

Test(held, those_of_ended_processes_are_handed_out)
{
	struct coll_held h = { 0 };
	coll_held_fds copies = { 0 }, ended = { 0 };
	pid_t pid = fork();
	int one = open_one(), two = open_one();

	if (!pid)
		_exit(0);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	coll_held_add(&h, one, (uint32_t)getpid());
	coll_held_add(&h, two, (uint32_t)pid);
	coll_held_copy(&h, &copies);
	cr_expect_eq(copies.len, 2);
	coll_held_take_ended(&h, &ended);
	cr_assert_eq(ended.len, 1);
	cr_expect_eq(ended.data[0], two);
	cr_expect_eq(h.files.len, 1);
	coll_held_fini(&h);
	cr_expect(is_open(two));
	coll_held_close(&ended);
	coll_held_close(&copies);
	cr_expect(!is_open(two));
}
