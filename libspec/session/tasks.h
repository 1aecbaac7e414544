/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_TASKS_H
#define LIBSPEC_SESSION_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

/*
 * The table samples/SESSION/tasks: who a tgid and tid were.  Text like "images", first
 * line "# opfs tasks 1":  tgid tid start-ns comm command-line cgroup
 * start-ns is CLOCK_MONOTONIC at the task's start, 0 if unknown.  A later line for the
 * same (tgid, tid, start) replaces an earlier one (exec, rename); a cgroup that it does
 * not know stays.  tgid and tid are as in names of sample files: see pid.h.  The row of a
 * process is that of its first thread; others leave out what is the same.
 */
struct spec_task {
	uint32_t tgid, tid;
	uint64_t start_ns;
	char *comm, *cmdline, *cgroup;   /* NULL: unknown */
	const struct spec_task *process; /* as read: the row of its process, or its own */
};

struct spec_tasks {
	struct spec_task *rows;
	size_t nr, cap;
	struct arena texts; /* of the rows */
};

/* As spec_images_read().  Threads get the command line and cgroup of their process. */
int spec_tasks_read(int session_fd, struct spec_tasks *out, struct err *err);
/* As spec_images_append(), several rows at once. */
int spec_tasks_append_all(int session_fd, const struct spec_task *rows, size_t nr,
			  struct err *err);
int spec_tasks_append(int session_fd, const struct spec_task *row, struct err *err);
/* Accepts a zeroed table. */
void spec_tasks_fini(struct spec_tasks *t);

#endif
