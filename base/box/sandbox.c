/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/box/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/box/box.h"
#include "base/cleanup.h"
#include "base/file.h"

#ifdef __SANITIZE_ADDRESS__
#define SANITIZED 1 /* maps terabytes, calls what it likes, and writes reports */
void __sanitizer_set_report_fd(void *fd);
#else
#define SANITIZED 0
#define __sanitizer_set_report_fd(fd) ((void)(fd))
#endif

/* System calls that libelf, libdw, libiberty and libc make while they read. */
static const int allowed[] = {
	SCMP_SYS(read),          SCMP_SYS(pread64),
	SCMP_SYS(readv),         SCMP_SYS(preadv),
	SCMP_SYS(lseek),         SCMP_SYS(close),
	SCMP_SYS(dup),           SCMP_SYS(fstat),
	SCMP_SYS(newfstatat),    SCMP_SYS(stat),
	SCMP_SYS(lstat),         SCMP_SYS(statx),
	SCMP_SYS(readlink),      SCMP_SYS(readlinkat),
	SCMP_SYS(getdents64),    SCMP_SYS(fstatfs),
	SCMP_SYS(fcntl),         SCMP_SYS(fadvise64),
	SCMP_SYS(munmap),        SCMP_SYS(mremap),
	SCMP_SYS(madvise),       SCMP_SYS(brk),
	SCMP_SYS(futex),         SCMP_SYS(getrandom),
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
	SCMP_SYS(uname),         SCMP_SYS(sysinfo),
	SCMP_SYS(getpid),        SCMP_SYS(gettid),
	SCMP_SYS(geteuid),       SCMP_SYS(getuid),
	SCMP_SYS(rt_sigaction),  SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),  SCMP_SYS(exit),
	SCMP_SYS(exit_group),
};

static struct sock_fprog filter;

static int add_rules(scmp_filter_ctx ctx)
{
	const unsigned writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE;
	int rc = 0;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]) && !rc; i++)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(write), 1,
				      SCMP_A0(SCMP_CMP_EQ, BOX_FD));
	/*
	 * O_TMPFILE includes O_DIRECTORY, which opendir() needs: compared without that
	 * bit
	 */
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(openat), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, writing & ~O_DIRECTORY,
					      0));
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (!rc)
		rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1,
				      SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	return rc;
}

/* Keeps the compiled program: compiling it again for each job would cost too much. */
static int export_filter(scmp_filter_ctx ctx)
{
	CLEANUP(close_fd) int fd = memfd_create("seccomp", MFD_CLOEXEC);
	struct stat st;
	int rc;

	if (fd < 0)
		return -errno;
	rc = seccomp_export_bpf(ctx, fd);
	if (rc)
		return rc;
	if (fstat(fd, &st))
		return -errno;
	filter.filter = malloc((size_t)st.st_size);
	if (!filter.filter)
		return -ENOMEM;
	if (file_pread_all(fd, filter.filter, (size_t)st.st_size, 0) != st.st_size)
		return -EIO;
	filter.len = (unsigned short)((size_t)st.st_size / sizeof(*filter.filter));
	return 0;
}

int sandbox_prepare(struct err *err)
{
	scmp_filter_ctx ctx;
	int rc;

	if (SANITIZED)
		return 0;
	ctx = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	rc = ctx ? add_rules(ctx) : -ENOMEM;
	if (!rc)
		rc = export_filter(ctx);
	if (ctx)
		seccomp_release(ctx);
	return rc ? err_errno(err, rc, "seccomp filter") : 0;
}

static const struct {
	int resource;
	rlim_t limit;
} limits[] = {
	{ RLIMIT_FSIZE, 0 },
	{ RLIMIT_CORE, 0 },
	{ RLIMIT_NOFILE, 64 },
	{ RLIMIT_AS, SANDBOX_MEMORY },
};

/* Opens what takes a sanitizer's reports, before the rights to do so are given up: tests
 * fail for reports of helpers too. */
static void open_reports(void)
{
	const char *path = getenv("OPFS_TEST_REPORTS");
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

	/* those of the address sanitizer; others go to stderr */
	if (fd >= 0 && dup2(fd, STDERR_FILENO) == STDERR_FILENO)
		__sanitizer_set_report_fd((void *)(uintptr_t)STDERR_FILENO);
}

int sandbox_limit(unsigned cpu_seconds, struct err *err)
{
	struct rlimit cpu = { .rlim_cur = cpu_seconds, .rlim_max = cpu_seconds + 1 };

	if (SANITIZED)
		open_reports();
	if (setrlimit(RLIMIT_CPU, &cpu))
		return err_errno(err, -errno, "limiting processor time");
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct rlimit l = { limits[i].limit, limits[i].limit };

		if (SANITIZED && (limits[i].resource == RLIMIT_AS ||
				  limits[i].resource == RLIMIT_FSIZE))
			continue;
		if (setrlimit(limits[i].resource, &l))
			return err_errno(err, -errno, "limiting a helper");
	}
	return 0;
}

#ifndef LANDLOCK_ACCESS_FS_TRUNCATE
#define LANDLOCK_ACCESS_FS_TRUNCATE (1ULL << 14)
#endif

/*
 * All that changes files, and running them, is refused.  A kernel may lack it, or a
 * container forbid it: the filter is there as well.
 */
static int use_landlock(void)
{
	struct landlock_ruleset_attr attr = {
		.handled_access_fs =
			LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE |
			LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
			LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |
			LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
			LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |
			LANDLOCK_ACCESS_FS_MAKE_SYM
	};
	CLEANUP(close_fd) int fd = -1;

	if (syscall(SYS_landlock_create_ruleset, NULL, 0,
		    LANDLOCK_CREATE_RULESET_VERSION) >= 3)
		attr.handled_access_fs |= LANDLOCK_ACCESS_FS_TRUNCATE;
	fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (fd >= 0 && syscall(SYS_landlock_restrict_self, fd, 0))
		return -errno;
	return 0;
}

int sandbox_enter(struct err *err)
{
	int rc;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_errno(err, -errno, "no_new_privs");
	rc = use_landlock();
	if (rc)
		return err_errno(err, rc, "landlock");
	if (!filter.len)
		return 0;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) && errno != EINVAL)
		return err_errno(err, -errno, "seccomp");
	return 0;
}
