/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libsym/zygote.h"

enum { MAX_ENV = 16 };

/* Nothing of the environment matters to a helper but how its libraries are found. */
static bool is_kept(const char *var)
{
	static const char *const kept[] = {
		"LD_LIBRARY_PATH=", "ASAN_OPTIONS=",      "UBSAN_OPTIONS=",
		"LSAN_OPTIONS=",    "LLVM_PROFILE_FILE=",
	};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!strncmp(var, kept[i], strlen(kept[i])))
			return true;
	return false;
}

static void pick_environment(char **out)
{
	size_t nr = 0;

	for (char **e = environ; e && *e && nr < MAX_ENV - 1; e++)
		if (is_kept(*e))
			out[nr++] = *e;
	out[nr] = NULL;
}

static int set_actions(posix_spawn_file_actions_t *a, int socket)
{
	int rc = posix_spawn_file_actions_adddup2(a, socket, SYM_ZYGOTE_FD);

	if (!rc)
		rc = posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(a, 1, "/dev/null", O_WRONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(a, SYM_ZYGOTE_FD + 1);
	return rc;
}

/* A group of its own: Ctrl-C is for the program, which ends its helper itself. */
static int set_attributes(posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK |
						    POSIX_SPAWN_SETSIGDEF |
						    POSIX_SPAWN_SETPGROUP);
	if (!rc)
		rc = posix_spawnattr_setsigmask(attr, &none);
	if (!rc)
		rc = posix_spawnattr_setsigdefault(attr, &all);
	if (!rc)
		rc = posix_spawnattr_setpgroup(attr, 0);
	return rc;
}

static int spawn_with(const char *program, int socket, pid_t *pid)
{
	char option[32];
	char name[] = "opfs-symbols";
	char *argv[] = { name, option, NULL };
	char *env[MAX_ENV];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	snprintf(option, sizeof(option), "%s%d", SYM_ZYGOTE_OPTION, SYM_ZYGOTE_FD);
	pick_environment(env);
	rc = posix_spawn_file_actions_init(&actions);
	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (!rc) {
		rc = set_actions(&actions, socket);
		if (!rc)
			rc = set_attributes(&attr);
		if (!rc)
			rc = posix_spawn(pid, program, &actions, &attr, argv, env);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int sym_spawn(const char *program, struct sym_spawned *out, struct err *err)
{
	int pair[2], rc;
	CLEANUP(close_fd) int mine = -1;
	CLEANUP(close_fd) int its = -1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(err, -errno, "starting a symbol helper");
	mine = pair[0];
	/* out of the way of 0 to 3, which become other things in the helper */
	its = fcntl(pair[1], F_DUPFD_CLOEXEC, 10);
	close(pair[1]);
	if (its < 0)
		return err_errno(err, -errno, "starting a symbol helper");
	rc = spawn_with(program, its, &out->pid);
	if (rc) {
		out->pid = 0;
		return err_errno(err, -rc, "starting the symbol helper %s", program);
	}
	out->control = take_fd(&mine);
	return 0;
}

void sym_spawn_end(struct sym_spawned *s)
{
	if (s->control >= 0)
		close(s->control);
	if (s->pid > 0) {
		kill(s->pid, SIGKILL); /* its jobs die with it */
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	*s = (struct sym_spawned){ .control = -1 };
}

int sym_spawn_job(const struct sym_spawned *s, int fd, const struct sym_limits *limits)
{
	struct sym_zygote_message m = { .limits = *limits };
	struct iovec iov = { .iov_base = &m, .iov_len = sizeof(m) };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	while (sendmsg(s->control, &msg, MSG_NOSIGNAL) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}
