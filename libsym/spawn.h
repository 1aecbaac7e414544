/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SPAWN_H
#define LIBSYM_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "libsym/zygote.h"

/* The helper process of a server, from the outside. */
struct sym_spawned {
	pid_t pid;   /* 0: none */
	int control; /* -1: none */
};

/* Starts @program with nothing but the control socket and stderr.  0 or -errno. */
int sym_spawn(const char *program, struct sym_spawned *out, struct err *err);

/* Ends it, with the jobs that it has, and waits. */
void sym_spawn_end(struct sym_spawned *s);

/* Gives it the job whose socket is @fd (stays the caller's).  0, or -errno if it died. */
int sym_spawn_job(const struct sym_spawned *s, int fd, const struct sym_limits *limits);

#endif
