/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ZYGOTE_H
#define LIBSYM_ZYGOTE_H

#include <stdint.h>

/* Of a job. */
struct sym_limits {
	uint32_t cpu_s;       /* of processor time */
	uint32_t deadline_ms; /* by the clock */
};

/*
 * The process that forks one process a job.  It does nothing else, has a single thread
 * and little memory, so that forking it is quick and safe, which it would not be for a
 * mount with many threads.  Sockets of jobs come over its control socket.
 */
struct sym_zygote_message { /* with the job's socket as SCM_RIGHTS */
	struct sym_limits limits;
};

#define SYM_ZYGOTE_OPTION "--symbol-helper="
#define SYM_ZYGOTE_FD 3

/* Serves until the other end of the control socket @fd is closed; an exit status. */
int sym_zygote_run(int fd);

#endif
