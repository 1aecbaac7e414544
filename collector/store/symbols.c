/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/symbols.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "collector/store/session.h"
#include "libspec/session/stats.h"

enum { MAX_NOTES = 20, MAX_ANSWER = 1 << 20, NICE = 5, SIGNALLED = 128 };

struct keeping {
	int session_fd; /* -1: none */
	const coll_held_fds *held;
	size_t told, untold;
};

static void tell(struct keeping *k, const char *line)
{
	struct err err = { 0 };

	if (k->told == MAX_NOTES) {
		k->untold++;
		return;
	}
	k->told++;
	log_warn("%s", line);
	if (k->session_fd >= 0 && spec_stats_note(k->session_fd, line, &err))
		log_err("%s", err.msg);
}

/* ---- starting it */

/* Beside this program, by the name that is installed there. */
static int find_program(char path[static PATH_MAX])
{
	static const char name[] = "opfs";
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
	char *slash;

	if (len <= 0)
		return -errno;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash || (size_t)(slash + 1 - path) + sizeof(name) > PATH_MAX)
		return -ENAMETOOLONG;
	memcpy(slash + 1, name, sizeof(name));
	return access(path, X_OK) ? -errno : 0;
}

/* SESSION_DIR, whose samples/ is open. */
static int find_dir(int samples_fd, char path[static PATH_MAX])
{
	char self[32], *slash;
	ssize_t len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", samples_fd);
	len = readlink(self, path, PATH_MAX - 1);
	if (len <= 0)
		return -errno;
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

/* It can be interrupted, whatever this process does with signals. */
static int spawn(const struct keeping *k, char *const argv[], int out, pid_t *pid)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
	vec_for(k->held, fd) /* is not closed then */
		posix_spawn_file_actions_adddup2(&files, *fd, *fd);
	rc = posix_spawn(pid, argv[0], &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return -rc;
}

/* Samples come first, and it is what has to go where memory is short. */
static void make_modest(pid_t pid)
{
	char path[40];
	CLEANUP(close_fd) int fd = -1;

	setpriority(PRIO_PROCESS, (id_t)pid, NICE);
	snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int)pid);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "1000", 4) < 0)
		log_debug(LOG_MISC, "%s: %s", path, strerror(errno));
}

/* ---- what it says */

/* Its lines; the words "opfs keep: " are ours to say. */
static void tell_lines(struct keeping *k, char *text)
{
	static const char who[] = "opfs keep: ";
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!strncmp(line, who, sizeof(who) - 1))
			line += sizeof(who) - 1;
		if (*line)
			tell(k, line);
	}
}

/*
 * Waits for its end, and not for that of its helpers: one that waits for a file system
 * that never answers cannot be killed, and has the pipe open.
 */
static void read_lines(struct keeping *k, int fd, pid_t pid)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	CLEANUP(close_fd) int ended = pidfd_open(pid, 0);
	struct pollfd waits[] = { { .fd = fd, .events = POLLIN },
				  { .fd = ended, .events = POLLIN } };
	char piece[4096];
	ssize_t n;

	for (;;) {
		n = read(fd, piece, sizeof(piece));
		if (n > 0 && text.len < MAX_ANSWER)
			strbuf_add(&text, piece, (size_t)n);
		if (!n ||
		    (n < 0 && errno != EINTR && (errno != EAGAIN || waits[1].revents)))
			break;
		if (n < 0 && errno == EAGAIN)
			poll(waits, 2, -1);
	}
	if (text.len && !strbuf_error(&text))
		tell_lines(k, text.data);
}

static void tell_end(struct keeping *k, int status)
{
	char line[128];

	if (WIFSIGNALED(status)) {
		snprintf(line, sizeof(line),
			 "names are not kept: \"opfs keep\" was ended by signal %d (%s); "
			 "call it again",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
		tell(k, line);
	} else if (WEXITSTATUS(status) && !k->told) {
		snprintf(line, sizeof(line),
			 "names are not kept: \"opfs keep\" failed with status %d",
			 WEXITSTATUS(status));
		tell(k, line);
	}
	if (k->untold) {
		snprintf(line, sizeof(line),
			 "names are not kept: the same of %zu more images", k->untold);
		k->told = 0;
		tell(k, line);
	}
}

static int run(struct keeping *k, char *const argv[])
{
	CLEANUP(close_fd) int mine = -1, its = -1;
	int fds[2], status, rc;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	mine = fds[0];
	its = fds[1];
	if (fcntl(mine, F_SETFL, O_NONBLOCK))
		return -errno;
	rc = spawn(k, argv, its, &pid);
	if (rc)
		return rc;
	close(take_fd(&its));
	make_modest(pid);
	read_lines(k, mine, pid);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	tell_end(k, status);
	return 0;
}

/* @held: only what these files tell */
static int keep(struct keeping *k, int samples_fd, char *session, uint64_t limit,
		const struct strbuf *held)
{
	char program[PATH_MAX], dir[PATH_MAX], dir_option[] = "--session-dir";
	char command[] = "keep", quiet[] = "--quiet", prune[] = "--prune", end[] = "--";
	CLEANUP(strbuf_fini) struct strbuf bound = { 0 };
	char *argv[10] = { program, command, quiet, dir_option, dir };
	size_t n = 5;
	int rc = find_program(program);

	if (!rc)
		rc = find_dir(samples_fd, dir);
	if (limit)
		strbuf_printf(&bound, "--limit=%" PRIu64 "K", limit >> 10);
	if (rc || strbuf_error(&bound) || strbuf_error(held))
		return rc ? rc : -ENOMEM;
	if (held->len)
		argv[n++] = held->data;
	if (limit)
		argv[n++] = bound.data;
	argv[n++] = session ? end : prune; /* a name may look like an option */
	argv[n] = session;
	return run(k, argv);
}

static size_t keep_names(int samples_fd, const char *session,
			 const struct coll_symbols *how, const coll_held_fds *held)
{
	CLEANUP(close_fd) int fd = session ? coll_session_dir(samples_fd, session) : -1;
	CLEANUP(free_ptr) char *name = session ? strdup(session) : NULL;
	CLEANUP(strbuf_fini) struct strbuf only = { 0 };
	struct keeping k = { .session_fd = fd, .held = held };
	char line[128];
	int rc;

	if (how->none)
		return 0;
	vec_for(held, file)
		strbuf_printf(&only, "%s%d", only.len ? "," : "--held=", *file);
	rc = session && !name ? -ENOMEM : keep(&k, samples_fd, name, how->limit, &only);
	if (rc) {
		snprintf(
			line, sizeof(line),
			"names are not kept: \"opfs\" beside opcollect cannot be started "
			"(%s)",
			strerror(-rc));
		tell(&k, line);
	}
	return k.told;
}

size_t coll_symbols_keep(int samples_fd, const char *session,
			 const struct coll_symbols *how)
{
	static const coll_held_fds none;

	return keep_names(samples_fd, session, how, &none);
}

size_t coll_symbols_keep_held(int samples_fd, const char *session,
			      const struct coll_symbols *how, const coll_held_fds *held)
{
	return held->len ? keep_names(samples_fd, session, how, held) : 0;
}
