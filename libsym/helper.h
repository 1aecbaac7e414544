/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_HELPER_H
#define LIBSYM_HELPER_H

#include <sys/types.h>

/* Exit statuses of a job's process; anything else than these and 0 is a crash. */
enum {
	SYM_HELPER_FAILED = 70,
	SYM_HELPER_NO_MEMORY,
	SYM_HELPER_TOO_BIG,
	SYM_HELPER_REFUSED, /* nonsense was asked for; the answer is the reason's text */
};

/**
 * sym_helper_child - does one job in the process that was forked for it; never returns
 * @fd: the job's socket: request in, answer out
 * @parent: who forked it; when that ends, so does the job
 * @cpu_seconds: processor time that it may take
 */
void sym_helper_child(int fd, pid_t parent, unsigned cpu_seconds)
	__attribute__((noreturn));

#endif
