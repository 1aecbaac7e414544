/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/aside.h"

enum { PATIENT_MS = 60000 };

static void twice(struct coll_aside *a)
{
	memcpy(a->data + a->len, a->data, a->len);
	a->len *= 2;
}

static void fill(struct coll_aside *a)
{
	a->len = COLL_ASIDE_MAX - 1;
	memset(a->data, 'x', a->len);
}

static void block(struct coll_aside *a)
{
	(void)a;
	for (;;)
		pause();
}

static void die(struct coll_aside *a)
{
	(void)a;
	_exit(1);
}

/* Which descriptors it has. */
static void count_open(struct coll_aside *a)
{
	int nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	memcpy(a->data, &nr, sizeof(nr));
	a->len = sizeof(nr);
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void expect_works(void)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	cr_assert_eq(coll_aside(twice, "ab", 2, &out, PATIENT_MS), 0);
	cr_expect_str_eq(strbuf_str(&out), "abab");
}

Test(aside, answers_what_is_asked)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	for (int i = 0; i < 500; i++)
		expect_works();
	cr_assert_eq(coll_aside(fill, "", 0, &out, PATIENT_MS), 0);
	cr_expect_eq(out.len, COLL_ASIDE_MAX - 1);
	expect_works();
}

Test(aside, is_not_held_up_by_work_that_never_ends)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	for (int i = 0; i < 40; i++) {
		int rc = coll_aside(block, "", 0, &out, 1);

		cr_assert(rc == -ETIMEDOUT || rc == -EAGAIN, "%d", rc);
	}
	while (coll_aside_stuck())
		nap();
	expect_works();
}

Test(aside, replaces_a_process_that_died)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	cr_assert_eq(coll_aside(die, "", 0, &out, PATIENT_MS), -ETIMEDOUT);
	expect_works();
	coll_aside_end();
	expect_works();
}

Test(aside, holds_nothing_open_of_ours)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	CLEANUP(close_fd) int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int nr = -1;

	cr_assert_eq(coll_aside(count_open, "", 0, &out, PATIENT_MS), 0);
	cr_assert_eq(out.len, sizeof(nr));
	memcpy(&nr, out.data, sizeof(nr));
	cr_expect_eq(nr, 1);
	(void)fd;
}
