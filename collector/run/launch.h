/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_RUN_LAUNCH_H
#define COLLECTOR_RUN_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* The command that is profiled: made, but held back until everything is ready. */
struct coll_launch {
	pid_t pid;    /* 0: none */
	int go_fd;    /* a byte lets it run; closed without one, it ends */
	int error_fd; /* its errno, if it cannot be executed */
	bool ended;
	int status; /* of waitpid(), once it has ended */
};

enum { COLL_EXIT_NOT_EXECUTABLE = 126, COLL_EXIT_NOT_FOUND = 127 };

/**
 * coll_launch_check - whether the command can be found and executed
 * Returns 0, -ENOENT or -EACCES.
 */
int coll_launch_check(const char *name, struct err *err);

/* @mask: signals that the command has blocked. */
int coll_launch_prepare(struct coll_launch *l, char **argv, const sigset_t *mask,
			struct err *err);
/* Lets it run.  0, or -errno if it could not be executed. */
int coll_launch_go(struct coll_launch *l, const char *name, struct err *err);
/* Looks whether it has ended, without waiting. */
void coll_launch_poll(struct coll_launch *l);
/* The exit status where coll_launch_check() or coll_launch_go() returned @rc. */
int coll_launch_refused(int rc);
/* What a shell would say of it: 0-255, 128 and the signal's number. */
int coll_launch_exit_status(const struct coll_launch *l);
/* One that was never let go ends. */
void coll_launch_fini(struct coll_launch *l);

#endif
