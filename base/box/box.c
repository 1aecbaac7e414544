/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/box/box.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/box/pass.h"
#include "base/box/serve.h"
#include "base/cleanup.h"

enum { MAX_ENV = 64, FIRST_FREE_FD = 10 };

/* Nothing of the environment matters to a box but how its libraries are found, and what
 * tests tell it. */
static bool is_kept(const char *var)
{
	static const char *const kept[] = {
		"LD_LIBRARY_PATH=", "LD_PRELOAD=",   "ASAN_OPTIONS=",
		"UBSAN_OPTIONS=",   "LSAN_OPTIONS=", "LLVM_PROFILE_FILE=",
		"OPFS_TEST_",
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

static int set_actions(posix_spawn_file_actions_t *a, int control, bool quiet)
{
	int rc = posix_spawn_file_actions_adddup2(a, control, BOX_FD);

	if (!rc)
		rc = posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addopen(a, 1, "/dev/null", O_WRONLY, 0);
	if (!rc && quiet)
		rc = posix_spawn_file_actions_addopen(a, 2, "/dev/null", O_WRONLY, 0);
	if (!rc)
		rc = posix_spawn_file_actions_addclosefrom_np(a, BOX_FD + 1);
	if (!rc)
		rc = posix_spawn_file_actions_addchdir_np(a, "/");
	return rc;
}

/* A group of its own: Ctrl-C is for the program, which ends its boxes itself. */
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

static int spawn(const struct box_kind *kind, const char *program, int control,
		 pid_t *pid)
{
	char option[64];
	char *argv[] = { (char *)kind->name, option, NULL };
	char *env[MAX_ENV];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int rc;

	snprintf(option, sizeof(option), BOX_OPTION "%s", kind->name);
	pick_environment(env);
	rc = posix_spawn_file_actions_init(&actions);
	if (rc)
		return rc;
	rc = posix_spawnattr_init(&attr);
	if (!rc) {
		rc = set_actions(&actions, control, kind->quiet);
		if (!rc)
			rc = set_attributes(&attr);
		if (!rc)
			rc = posix_spawn(pid, program, &actions, &attr, argv, env);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

int box_start(const struct box_kind *kind, const char *program, struct box *out,
	      struct err *err)
{
	int pair[2], rc;
	CLEANUP(close_fd) int mine = -1;
	CLEANUP(close_fd) int its = -1;

	*out = (struct box)BOX_NONE;
	if (!program)
		program = "/proc/self/exe";
	/* messages stay apart, and come to an end when the other side has gone */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return err_errno(err, -errno, "starting %s", kind->name);
	mine = pair[0];
	/* out of the way of 0 to 3, which become other things in the box */
	its = fcntl(pair[1], F_DUPFD_CLOEXEC, FIRST_FREE_FD);
	rc = -errno;
	close(pair[1]);
	if (its < 0)
		return err_errno(err, rc, "starting %s", kind->name);
	rc = spawn(kind, program, its, &out->pid);
	if (rc) {
		out->pid = 0;
		return err_errno(err, -rc, "starting %s, which is %s", kind->name,
				 program);
	}
	out->control = take_fd(&mine);
	return 0;
}

void box_end(struct box *b)
{
	if (b->control >= 0)
		close(b->control);
	if (b->pid > 0) {
		kill(b->pid, SIGKILL); /* its jobs die with it */
		while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	*b = (struct box)BOX_NONE;
}

int box_job(const struct box *b, int fd, const struct box_limits *limits)
{
	ssize_t n = box_pass_send(b->control, limits, sizeof(*limits), fd);

	return n < 0 ? (int)n : 0;
}

bool box_wanted(int argc, char **argv)
{
	return argc == 2 && !strncmp(argv[1], BOX_OPTION, strlen(BOX_OPTION));
}

int box_main(const struct box_kind *const *kinds, size_t nr, int argc, char **argv)
{
	int rc = BOX_UNKNOWN;

	for (size_t i = 0; i < nr && box_wanted(argc, argv); i++)
		if (!strcmp(argv[1] + strlen(BOX_OPTION), kinds[i]->name))
			rc = box_serve(kinds[i]);
	if (rc == BOX_UNKNOWN)
		dprintf(2,
			"%s: %s is for helpers that this program starts, not for you\n",
			program_invocation_short_name, argv[1]);
	return rc;
}
