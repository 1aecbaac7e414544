/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/box/sandbox.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* Each test is a process of its own, which nothing takes out of the sandbox again. */

Test(sandbox, signals_nobody_and_not_itself_either)
{
	pid_t parent = getppid(), self = getpid();

	if (SANITIZED)
		cr_skip_test("the address sanitizer needs more");
	cr_assert_eq(sandbox_prepare(NULL), 0);
	cr_assert_eq(syscall(SYS_tgkill, parent, parent, 0), 0);
	cr_assert_eq(sandbox_enter(NULL), 0);
	errno = 0;
	if (!syscall(SYS_tgkill, parent, parent, 0) || errno != EPERM ||
	    !syscall(SYS_tgkill, self, self, 0) || errno != EPERM || !kill(parent, 0) ||
	    errno != EPERM)
		_exit(1); /* criterion cannot tell from in here */
	_exit(0);
}

Test(sandbox, has_half_a_gibibyte)
{
	if (SANITIZED)
		cr_skip_test("the address sanitizer needs more");
	cr_assert_eq(sandbox_limit(100, NULL), 0);
	cr_expect_eq(mmap(NULL, 512 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
		     MAP_FAILED);
	cr_expect_neq(mmap(NULL, 256 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			   0),
		      MAP_FAILED);
}

Test(sandbox, writes_nothing_where_the_kernel_has_landlock)
{
	char path[] = "/tmp/opfs-sandbox.XXXXXX";
	int fd = mkstemp(path);

	cr_assert(fd >= 0);
	if (syscall(SYS_landlock_create_ruleset, NULL, 0,
		    LANDLOCK_CREATE_RULESET_VERSION) < 1)
		cr_skip_test("this kernel has no Landlock");
	/* not prepared: without the filter of system calls */
	cr_assert_eq(sandbox_enter(NULL), 0);
	cr_expect_eq(open(path, O_WRONLY | O_CLOEXEC), -1);
	cr_expect_eq(errno, EACCES);
	cr_expect_eq(unlink(path), -1);
	if (syscall(SYS_landlock_create_ruleset, NULL, 0,
		    LANDLOCK_CREATE_RULESET_VERSION) >= 3)
		cr_expect_eq(truncate(path, 0), -1);
	cr_expect_eq(execl("/bin/true", "true", (char *)NULL), -1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_expect(fd >= 0);
}
