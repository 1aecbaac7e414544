/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

static int check_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) ? -errno : 0;
}

static int check_path(const char *name)
{
	const char *path = getenv("PATH");
	CLEANUP(free_ptr) char *copy = strdup(path ? path : "/bin:/usr/bin");
	char *rest = copy, *dir, file[PATH_MAX];
	int best = -ENOENT;

	while (copy && (dir = strsep(&rest, ":"))) {
		int rc, n = snprintf(file, sizeof(file), "%s/%s", *dir ? dir : ".", name);

		if (n < 0 || (size_t)n >= sizeof(file))
			continue;
		rc = check_file(file);
		if (!rc)
			return 0;
		if (rc == -EACCES)
			best = rc;
	}
	return copy ? best : -ENOMEM;
}

static int tell(const char *name, int code, struct err *err)
{
	if (!*name)
		return err_set(err, code,
			       "the command is an empty word (a variable that is not "
			       "set?); give a program's name or path");
	if (code == -ENOENT && !strchr(name, '/'))
		return err_set(err, code, "%s: command not found in PATH", name);
	return err_errno(err, code, "%s: cannot be executed", name);
}

int coll_launch_check(const char *name, struct err *err)
{
	int rc =
		*name ? strchr(name, '/') ? check_file(name) : check_path(name) : -ENOENT;

	return rc ? tell(name, rc, err) : 0;
}

/* The child: waits for the word, then becomes the command. */
static void run(char **argv, const sigset_t *mask, int go_fd, int error_fd)
{
	char byte;
	ssize_t n;
	int code;

	if (file_read_all(go_fd, &byte, 1) != 1)
		_exit(1);
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(argv[0], argv);
	code = errno;
	n = write(error_fd, &code, sizeof(code));
	_exit(n < 0 || code != ENOENT ? COLL_EXIT_NOT_EXECUTABLE : COLL_EXIT_NOT_FOUND);
}

int coll_launch_prepare(struct coll_launch *l, char **argv, const sigset_t *mask,
			struct err *err)
{
	int go[2], error[2];

	*l = (struct coll_launch){ .go_fd = -1, .error_fd = -1 };
	if (pipe2(go, O_CLOEXEC))
		return err_errno(err, -errno, "pipe");
	if (pipe2(error, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return err_errno(err, -errno, "pipe");
	}
	l->pid = fork();
	if (!l->pid) {
		close(go[1]);
		close(error[0]);
		run(argv, mask, go[0], error[1]);
	}
	close(go[0]);
	close(error[1]);
	l->go_fd = go[1];
	l->error_fd = error[0];
	if (l->pid < 0) {
		l->pid = 0;
		return err_errno(err, -errno, "fork");
	}
	return 0;
}

int coll_launch_go(struct coll_launch *l, const char *name, struct err *err)
{
	int code = 0;
	ssize_t n;

	if (write(l->go_fd, "", 1) != 1)
		return err_errno(err, -errno, "%s", name);
	close_fd(&l->go_fd);
	l->go_fd = -1;
	/* closed by a successful exec; with an errno otherwise */
	n = file_read_all(l->error_fd, &code, sizeof(code));
	return n == (ssize_t)sizeof(code) ? tell(name, -code, err) : 0;
}

void coll_launch_poll(struct coll_launch *l)
{
	if (l->pid && !l->ended && waitpid(l->pid, &l->status, WNOHANG) == l->pid)
		l->ended = true;
}

int coll_launch_refused(int rc)
{
	return rc == -ENOENT ? COLL_EXIT_NOT_FOUND : COLL_EXIT_NOT_EXECUTABLE;
}

int coll_launch_exit_status(const struct coll_launch *l)
{
	if (!l->ended)
		return 0;
	return WIFSIGNALED(l->status) ? 128 + WTERMSIG(l->status)
				      : WEXITSTATUS(l->status);
}

void coll_launch_fini(struct coll_launch *l)
{
	bool held = l->pid && l->go_fd >= 0;

	close_fd(&l->go_fd);
	close_fd(&l->error_fd);
	if (held && !l->ended)
		waitpid(l->pid, &l->status, 0);
	*l = (struct coll_launch){ .go_fd = -1, .error_fd = -1 };
}
