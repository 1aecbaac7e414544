/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/number.h"
#include "base/utf8.h"

enum { DEFAULT_COLUMNS = 80, MAX_COLUMNS = 10000, NOT_FOUND = 127 };

extern char **environ;

unsigned terminal_columns(int fd)
{
	const char *told = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (told && number_parse(told, 10, MAX_COLUMNS, &n) && n)
		return (unsigned)n;
	return !ioctl(fd, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col
							    : DEFAULT_COLUMNS;
}

bool terminal_colors(int fd)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

static locale_t utf8_locale;

static void make_locale(void)
{
	utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", NULL);
}

/* wcwidth(), whatever language the user speaks. */
static int columns_of(wchar_t c)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	locale_t old;
	int width;

	pthread_once(&once, make_locale);
	if (!utf8_locale)
		return 1;
	old = uselocale(utf8_locale);
	width = wcwidth(c);
	uselocale(old);
	return width;
}

int terminal_width(const char *s, size_t left, size_t *len)
{
	const unsigned char *at = (const unsigned char *)s;
	size_t control = utf8_control_len(s, left), n = utf8_len(s, left);
	wchar_t c;

	*len = control ? control : n ? n : 1;
	if (control || !n)
		return -1;
	if (n == 1)
		return 1;
	c = at[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++)
		c = (c << 6) | (at[i] & 0x3f);
	return columns_of(c);
}

/* ---- pager */

static const char *pager(void)
{
	const char *own = getenv("OPFS_PAGER"), *general = getenv("PAGER");

	return own ? own : general ? general : "less";
}

/* The shell takes the words apart, as others do with $PAGER.  -errno, or 0. */
static int start(const char *command, int in, int out, pid_t *pid)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t ignored;
	int rc;

	sigemptyset(&ignored);
	sigaddset(&ignored, SIGINT);
	sigaddset(&ignored, SIGQUIT);
	sigaddset(&ignored, SIGPIPE);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &ignored);
	rc = posix_spawn(pid, "/bin/sh", &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* Gives the text to a pager: 0, -ENOENT if there is no such program, or -errno. */
static int page(const char *command, int fd, const char *text, size_t len)
{
	int fds[2], status, rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	rc = start(command, fds[0], fd, &pid);
	close(fds[0]);
	if (!rc)
		rc = file_write_all(fds[1], text, len);
	close(fds[1]);
	if (rc && rc != -EPIPE)
		return rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) >= NOT_FOUND - 1 ? -ENOENT : 0;
}

int terminal_page(int fd, const char *text, size_t len)
{
	struct sigaction old_int, old_quit, old_pipe;
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	const char *command = pager();
	int rc = -ENOENT;

	if (!*command || !strcmp(command, "cat"))
		return file_write_all(fd, text, len);
	setenv("LESS", "FRX", 0);
	/* these are for the pager, which shares the terminal */
	sigaction(SIGINT, &ignore, &old_int);
	sigaction(SIGQUIT, &ignore, &old_quit);
	sigaction(SIGPIPE, &ignore, &old_pipe);
	rc = page(command, fd, text, len);
	sigaction(SIGINT, &old_int, NULL);
	sigaction(SIGQUIT, &old_quit, NULL);
	sigaction(SIGPIPE, &old_pipe, NULL);
	return rc == -ENOENT ? file_write_all(fd, text, len) : rc;
}
