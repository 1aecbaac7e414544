/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * landlocked [free]: tries to read and to change what is in its directory, a file "file"
 * and a directory "dir" made by whoever calls it, confined as a helper is that has no
 * filter of system calls, or free.  Prints "WHAT RESULT" for each try.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/box/sandbox.h"

static int open_as(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	return fd < 0 ? -1 : close(fd);
}

static int try_read(void)
{
	return open_as("file", O_RDONLY);
}

static int try_list(void)
{
	DIR *d = opendir(".");

	return d && readdir(d) ? closedir(d) : -1;
}

static int try_write(void)
{
	return open_as("file", O_WRONLY);
}

static int try_append(void)
{
	return open_as("file", O_WRONLY | O_APPEND);
}

static int try_create(void)
{
	return open_as("new", O_RDWR | O_CREAT);
}

static int try_truncate(void)
{
	return truncate("file", 0);
}

static int try_mkdir(void)
{
	return mkdir("newdir", 0700);
}

static int try_rmdir(void)
{
	return rmdir("dir");
}

static int try_fifo(void)
{
	return mkfifo("fifo", 0600);
}

static int try_device(void)
{
	return mknod("null", S_IFCHR | 0600, 1 << 8 | 3);
}

static int try_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return bind(fd, (struct sockaddr *)&a, sizeof(a));
}

static int try_symlink(void)
{
	return symlink("file", "symlink");
}

static int try_link(void)
{
	return link("file", "link");
}

static int try_rename(void)
{
	return rename("file", "renamed");
}

static int try_unlink(void)
{
	return unlink("renamed") && unlink("file");
}

static int try_execute(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child) {
		execl("/bin/busybox", "true", (char *)NULL);
		_exit(errno);
	}
	waitpid(child, &status, 0);
	errno = WEXITSTATUS(status);
	return status ? -1 : 0;
}

static const struct {
	const char *what;
	int (*go)(void);
} tries[] = {
	{ "read", try_read },         { "list", try_list },
	{ "write", try_write },       { "append", try_append },
	{ "truncate", try_truncate }, { "create", try_create },
	{ "mkdir", try_mkdir },       { "rmdir", try_rmdir },
	{ "fifo", try_fifo },         { "device", try_device },
	{ "socket", try_socket },     { "symlink", try_symlink },
	{ "link", try_link },         { "rename", try_rename },
	{ "unlink", try_unlink },     { "execute", try_execute },
};

int main(int argc, char **argv)
{
	(void)argv;
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 1 && sandbox_enter(NULL))
		return 1;
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		errno = 0;
		printf("%s %s\n", tries[i].what,
		       tries[i].go() ? strerrorname_np(errno) : "done");
	}
	return 0;
}
