/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mount over a made-up tree, whose reports take as long as a test wants. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "opfs/mount/mount.h"
#include "opfs/reports.h"
#include "tests/unit/opfs/made_up_tree.h"

static char dir[] = "/tmp/opfs-fuse-XXXXXX";
static char mnt[64];
static pid_t daemon_pid;

static const char *path(const char *name)
{
	static char buf[8][512];
	static int at;

	at = (at + 1) % 8;
	snprintf(buf[at], sizeof(buf[at]), "%s/%s", mnt, name);
	return buf[at];
}

static bool wait_until(bool (*ready)(void))
{
	struct timespec nap = { .tv_nsec = 2000000 };

	for (int i = 0; i < 60000; i++) { /* two minutes */
		if (ready())
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

static bool is_up(void)
{
	return !access(path("live"), F_OK);
}

static void set_up(void)
{
	char samples[64], session_dir[64];
	char *argv[] = { (char *)"mount", (char *)"-f", (char *)"-o", (char *)"workers=2",
			 session_dir,     mnt,          NULL };

	if (geteuid() || access("/dev/fuse", R_OK | W_OK))
		cr_skip_test("needs root and /dev/fuse");
	sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		  -1, 0);
	cr_assert(sh != MAP_FAILED);
	cr_assert(mkdtemp(dir));
	snprintf(mnt, sizeof(mnt), "%s/mnt", dir);
	snprintf(session_dir, sizeof(session_dir), "%s/data", dir);
	cr_assert(!mkdir(mnt, 0700) && !mkdir(session_dir, 0700));
	snprintf(samples, sizeof(samples), "%s/data/samples", dir);
	cr_assert(!mkdir(samples, 0700));
	snprintf(samples, sizeof(samples), "%s/data/samples/saved", dir);
	cr_assert(!mkdir(samples, 0700));
	daemon_pid = fork();
	if (!daemon_pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		/* without what ends a program: criterion's threads are not here */
		_exit(opfs_mount_main(&opfs_reports, 6, argv));
	}
	cr_assert(wait_until(is_up));
}

static void tear_down(void)
{
	char command[128];
	int status = 0;

	if (!daemon_pid)
		return;
	sh->release = 1;
	kill(daemon_pid, SIGTERM);
	waitpid(daemon_pid, &status, 0);
	umount2(mnt, MNT_DETACH);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	cr_expect_eq(system(command), 0);
	cr_expect(WIFEXITED(status) && !WEXITSTATUS(status), "the mount ended with %#x",
		  (unsigned)status);
}

TestSuite(fuse_ops, .init = set_up, .fini = tear_down, .timeout = 1000);

static size_t read_all(int fd, char *buf, size_t room)
{
	size_t len = 0;
	ssize_t got;

	while (len < room && (got = read(fd, buf + len, room - len)) > 0)
		len += (size_t)got;
	buf[len < room ? len : room - 1] = '\0';
	return len;
}

static size_t cat(const char *name, char *buf, size_t room)
{
	CLEANUP(close_fd) int fd = open(path(name), O_RDONLY);

	cr_assert(fd >= 0, "%s: %s", name, strerror(errno));
	return read_all(fd, buf, room);
}

Test(fuse_ops, tells_the_exact_size_before_a_file_is_opened)
{
	char buf[TEXT_ROOM];
	struct stat st;

	cr_assert(!stat(path("saved/report"), &st));
	cr_expect_eq((size_t)st.st_size, cat("saved/report", buf, sizeof(buf)));
	cr_expect_eq(st.st_mode, (mode_t)(S_IFREG | 0444));
	cr_expect_eq(st.st_uid, 12u);
	cr_expect_eq(st.st_gid, 34u);
	cr_expect_eq(st.st_nlink, 1u);
	cr_expect_eq(st.st_blocks, 1);
	cr_expect_eq(st.st_mtim.tv_nsec, 123456790);
	cr_expect_eq(sh->renders, 1, "%d", sh->renders);
}

Test(fuse_ops, a_directory_shows_its_samples)
{
	char value[64] = "", list[128];
	struct stat st;

	cr_assert(!stat(path("saved"), &st));
	cr_expect_eq(st.st_mode, (mode_t)(S_IFDIR | 0555));
	cr_expect_eq(st.st_size, 250);
	cr_expect_eq(getxattr(path("saved"), "user.opfs.samples", NULL, 0), 3);
	cr_expect_eq(getxattr(path("saved"), "user.opfs.samples", value, 2), -1);
	cr_expect_eq(errno, ERANGE);
	cr_expect_eq(getxattr(path("saved"), "user.opfs.samples", value, 64), 3);
	cr_expect_str_eq(value, "250");
	memset(value, 0, sizeof(value));
	cr_expect_eq(getxattr(path("saved"), "user.opfs.percent", value, 64), 7);
	cr_expect_str_eq(value, "25.0000");
	cr_expect_eq(getxattr(path("saved"), "user.other", value, 64), -1);
	cr_expect_eq(errno, ENODATA);
	cr_expect_eq(listxattr(path("saved"), list, sizeof(list)), 36);
	cr_expect_str_eq(list, "user.opfs.samples");
	cr_expect_eq(listxattr(path("saved/report"), list, sizeof(list)), 0);
}

Test(fuse_ops, errors_of_the_tree_reach_the_caller)
{
	struct stat st;

	cr_expect(stat(path("saved/none"), &st) && errno == ENOENT);
	cr_expect(stat(path("saved/bad"), &st) && errno == EINVAL);
	cr_expect(open(path("saved/report"), O_WRONLY) < 0 && errno == EROFS);
	cr_expect(mkdir(path("saved/x"), 0700) && errno == EROFS);
	cr_expect(unlink(path("saved/report")) && errno == EROFS);
}

Test(fuse_ops, links_and_statfs)
{
	struct statvfs vfs;
	struct stat st;
	char target[32] = "";

	cr_expect(!lstat(path("saved/link"), &st) && S_ISLNK(st.st_mode));
	cr_expect_eq(st.st_size, 6);
	cr_expect_eq(readlink(path("saved/link"), target, sizeof(target)), 6);
	cr_expect_str_eq(target, "report");
	cr_expect(!statvfs(mnt, &vfs));
	cr_expect_eq(vfs.f_namemax, 1024u);
	cr_expect_eq(vfs.f_flag & (ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC),
		     (unsigned long)(ST_RDONLY | ST_NOSUID | ST_NODEV | ST_NOEXEC));
}

Test(fuse_ops, a_listing_is_whole_and_its_cookies_are_stable)
{
	CLEANUP(close_dir) DIR *d = opendir(path("saved/names"));
	struct dirent *e;
	long where = 0;
	char middle[32] = "";
	int nr = 0;

	cr_assert(d);
	for (; (e = readdir(d)); nr++) {
		cr_expect_neq(e->d_ino, 0);
		cr_expect_eq(e->d_type, DT_DIR);
		if (nr == 1500)
			where = telldir(d);
		if (nr == 1501)
			strcpy(middle, e->d_name);
	}
	cr_expect_eq(nr, NR_NAMES + 2, "%d", nr);
	seekdir(d, where);
	e = readdir(d);
	cr_expect_str_eq(e->d_name, middle);
	rewinddir(d);
	cr_expect_str_eq(readdir(d)->d_name, ".");
}

Test(fuse_ops, d_ino_is_st_ino)
{
	CLEANUP(close_dir) DIR *d = opendir(path("saved"));
	struct dirent *e;
	struct stat st;

	while ((e = readdir(d))) {
		if (!strcmp(e->d_name, ".."))
			continue;
		cr_expect(!fstatat(dirfd(d), e->d_name, &st, 0));
		cr_expect_eq(e->d_ino, st.st_ino, "%s", e->d_name);
	}
}

Test(fuse_ops, a_text_in_a_file_is_read_at_any_offset)
{
	CLEANUP(close_fd) int fd = open(path("saved/large"), O_RDONLY);
	char buf[8192];
	char *map;
	struct stat st;

	cr_assert(!fstat(fd, &st) && st.st_size == LARGE);
	cr_expect_eq(pread(fd, buf, sizeof(buf), 4096 * 27 - 1), (ssize_t)sizeof(buf));
	cr_expect(buf[0] == 'a' && buf[1] == 'b' && buf[4097] == 'c');
	cr_expect_eq(pread(fd, buf, sizeof(buf), LARGE - 10), 10);
	cr_expect_eq(pread(fd, buf, sizeof(buf), LARGE), 0);
	map = mmap(NULL, LARGE, PROT_READ, MAP_PRIVATE, fd, 0);
	cr_assert(map != MAP_FAILED);
	cr_expect_eq(map[LARGE - 1], 'a' + (LARGE / 4096 - 1) % 26);
	munmap(map, LARGE);
}

static pid_t reader(const char *name)
{
	char buf[TEXT_ROOM];
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	signal(SIGTERM, SIG_DFL);
	fd = open(path(name), O_RDONLY);
	_exit(fd < 0 || !read_all(fd, buf, sizeof(buf)));
}

static bool slow_runs(void)
{
	return sh->running == 1;
}

static bool all_cancelled(void)
{
	return sh->cancelled == 1 && !sh->running;
}

/* What the mount has read and written so far, as the kernel counts it. */
static unsigned long long copied(void)
{
	unsigned long long in, out;
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/io", (int)daemon_pid);
	f = fopen(name, "re");
	cr_assert(f);
	cr_assert_eq(fscanf(f, "rchar: %llu wchar: %llu", &in, &out), 2);
	fclose(f);
	return in + out;
}

Test(fuse_ops, the_mount_copies_nothing_of_a_text_in_a_file)
{
	CLEANUP(close_fd) int fd = open(path("saved/large"), O_RDONLY);
	CLEANUP(free_ptr) char *buf = malloc(LARGE);
	unsigned long long before = copied();
	size_t got = 0;
	ssize_t n = 1;

	for (; n > 0 && got < LARGE; got += (size_t)n) {
		n = read(fd, buf + got, LARGE - got);
		cr_assert(n > 0);
	}
	for (size_t i = 0; i < LARGE; i += 4095)
		cr_assert_eq(buf[i], 'a' + (int)(i / 4096 % 26));
	/* requests and headers, but not the text */
	cr_expect_lt(copied() - before, LARGE / 4);
}

Test(fuse_ops, a_slow_report_holds_nothing_else_up)
{
	char buf[TEXT_ROOM];
	struct stat st;
	int status;
	pid_t pid = reader("saved/slow");

	cr_assert(wait_until(slow_runs));
	cr_expect(cat("saved/report", buf, sizeof(buf)) > 0);
	cr_expect(!stat(path("live"), &st));
	cr_expect(stat(path("saved/none"), &st) && errno == ENOENT);
	cr_expect_eq(sh->running, 1);
	sh->release = 1;
	waitpid(pid, &status, 0);
	cr_expect_eq(status, 0);
	cr_expect_eq(sh->cancelled, 0);
}

Test(fuse_ops, an_interrupted_reader_is_gone_and_its_report_stopped)
{
	pid_t pid = reader("saved/slow");
	int status;

	cr_assert(wait_until(slow_runs));
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	cr_expect(wait_until(all_cancelled));
	/* and it can be asked for again */
	sh->release = 1;
	pid = reader("saved/slow");
	waitpid(pid, &status, 0);
	cr_expect_eq(status, 0);
}

static atomic_int *caught;

static void no_op(int sig)
{
	(void)sig;
	atomic_fetch_add(caught, 1);
}

static bool one_caught(void)
{
	return sh->caught == 1;
}

/* A child that catches a signal while it waits for the slow report: stat()'s errno. */
static pid_t catcher(int sig)
{
	pid_t pid = fork();
	struct stat st;

	if (pid)
		return pid;
	caught = &sh->caught;
	sigaction(sig, &(struct sigaction){ .sa_handler = no_op }, NULL);
	_exit(stat(path("saved/slow"), &st) ? errno : 0);
}

Test(fuse_ops, a_caught_signal_gives_EINTR)
{
	pid_t pid = catcher(SIGTERM);
	int status;

	cr_assert(wait_until(slow_runs));
	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == EINTR);
	cr_expect(wait_until(all_cancelled));
}

Test(fuse_ops, a_signal_that_asks_for_nothing_does_not_make_stat_fail)
{
	pid_t pid = catcher(SIGCHLD);
	int status;

	cr_assert(wait_until(slow_runs));
	kill(pid, SIGCHLD);
	usleep(20000);
	cr_expect_eq(sh->cancelled, 0);
	sh->release = 1;
	waitpid(pid, &status, 0);
	cr_expect_eq(status, 0, "%#x", (unsigned)status);
	cr_expect(one_caught());
}

Test(fuse_ops, the_mount_ends_in_the_midst_of_a_report)
{
	pid_t pid = reader("saved/slow");
	int status;

	cr_assert(wait_until(slow_runs));
	kill(daemon_pid, SIGTERM);
	waitpid(pid, &status, 0);
	cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 1);
}

static char live_was[TEXT_ROOM];

static bool live_moved(void)
{
	char buf[TEXT_ROOM];

	cat("live/report", buf, sizeof(buf));
	return strcmp(buf, live_was) != 0;
}

Test(fuse_ops, an_open_file_of_a_live_session_keeps_its_generation)
{
	CLEANUP(close_fd) int fd = open(path("live/tiny"), O_RDONLY);
	char first[TEXT_ROOM], again[TEXT_ROOM];
	struct stat st, dir_before, dir_after;
	size_t len = read_all(fd, first, sizeof(first));

	cr_expect_str_eq(first, "tiny of 100\n");
	cat("live/report", live_was, sizeof(live_was));
	cr_expect(!stat(path("live"), &dir_before));
	sh->generation = 5;
	cr_expect(wait_until(live_moved));
	cat("live/tiny", again, sizeof(again));
	cr_expect_str_eq(again, "tiny of 105     \n");
	cr_expect_eq((size_t)pread(fd, again, sizeof(again), 0), len);
	again[len] = '\0';
	cr_expect_str_eq(again, first);
	cr_expect(!fstat(fd, &st) && (size_t)st.st_size == len);
	cr_expect(!stat(path("live"), &dir_after));
	cr_expect_eq(dir_before.st_ino, dir_after.st_ino);
	cr_expect_eq(dir_after.st_mtim.tv_nsec, 123456894);
}

Test(fuse_ops, what_the_root_says_may_differ_at_each_look)
{
	char first[TEXT_ROOM], second[TEXT_ROOM];
	struct stat st;

	cat("status", first, sizeof(first));
	cat("status", second, sizeof(second));
	cr_expect(strcmp(first, second) != 0);
	cr_expect(!strncmp(second, "asked ", 6));
	cr_expect(!stat(path("status"), &st));
	cr_expect_eq(st.st_size, 14);
}

static bool saved_is_forgotten(void)
{
	return sh->forgotten;
}

static bool saved_is_gone(void)
{
	struct stat st;

	return stat(path("saved/report"), &st) && errno == ENOENT;
}

Test(fuse_ops, a_removed_session_is_gone_though_it_was_cached_for_long)
{
	char samples[64], buf[TEXT_ROOM];
	struct stat st;
	int fd;

	cr_expect(!stat(path("saved/names"), &st));
	fd = open(path("saved/report"), O_RDONLY);
	sh->removed = 1;
	snprintf(samples, sizeof(samples), "%s/data/samples/saved", dir);
	cr_expect(!rmdir(samples));
	cr_expect(wait_until(saved_is_gone));
	cr_expect(stat(path("saved"), &st) && errno == ENOENT);
	cr_expect(wait_until(saved_is_forgotten));
	/* who has it open keeps what he has */
	cr_expect(read_all(fd, buf, sizeof(buf)) > 0);
	close(fd);
	/* and when it comes back, so does the mount */
	sh->removed = 0;
	cr_expect(!mkdir(samples, 0700));
	cr_expect(!stat(path("live"), &st));
	for (int i = 0; i < 12000 && stat(path("saved/report"), &st); i++)
		usleep(10000);
	cr_expect(!stat(path("saved/report"), &st));
}

static pid_t pids[4];

/* They sleep in the kernel until the mount answers. */
static bool all_wait(void)
{
	char name[64], where[64];

	for (int i = 0; i < 4; i++) {
		CLEANUP(close_fd) int fd = -1;

		snprintf(name, sizeof(name), "/proc/%d/wchan", pids[i]);
		fd = open(name, O_RDONLY);
		read_all(fd, where, sizeof(where));
		if (strcmp(where, "request_wait_answer") != 0)
			return false;
	}
	return slow_runs();
}

Test(fuse_ops, readers_of_one_report_share_it)
{
	int status;

	for (int i = 0; i < 4; i++)
		pids[i] = reader("saved/slow");
	cr_assert(wait_until(all_wait));
	kill(pids[0], SIGTERM);
	waitpid(pids[0], &status, 0);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	cr_expect_eq(sh->running, 1);
	sh->release = 1;
	for (int i = 1; i < 4; i++) {
		waitpid(pids[i], &status, 0);
		cr_expect_eq(status, 0);
	}
	cr_expect_eq(sh->cancelled, 0);
	cr_expect_eq(sh->renders, 1, "%d", sh->renders);
}
