/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SESSION_TASKS_H
#define LIBSPEC_SESSION_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/cred.h"
#include "base/err.h"

/*
 * The table samples/SESSION/tasks: who a tgid and tid were.  Text like "images", first
 * line "# opfs tasks 1":  tgid tid start-ns comm command-line cgroup uid
 * start-ns is CLOCK_MONOTONIC at the task's start, 0 if unknown.  A later line for the
 * same (tgid, tid, start) replaces an earlier one (exec, rename); a cgroup that it does
 * not know stays.  tgid and tid are as in names of sample files: see pid.h.  The row of a
 * process is that of its first thread; others leave out what is the same.
 *
 * It is for the owner and the group of the session (mode 0640).  uid is the real user of
 * the process, who may be told of the row too; there is none in rows of before.
 */
struct spec_task {
	uint32_t tgid, tid;
	uint64_t start_ns;
	char *comm, *cmdline, *cgroup; /* NULL: unknown */
	bool has_uid;
	uint32_t uid;
	const struct spec_task *process; /* as read: the row of its process, or its own */
};

struct spec_tasks {
	struct spec_task *rows;
	size_t nr, cap;
	struct arena texts; /* of the rows */
	struct stat file;   /* whose owner and mode say who may see all rows */
};

/* Sets @out->file alone: mode 0 if there is no table. */
void spec_tasks_stat(int session_fd, struct spec_tasks *out);
/* As spec_images_read(); one that may not be read has no rows.  Threads get the command
 * line, cgroup and user of their process.  @out->file is set also on failure. */
int spec_tasks_read(int session_fd, struct spec_tasks *out, struct err *err);
/* May @who (NULL: this process) be told of the row? */
bool spec_tasks_tell(const struct spec_tasks *t, const struct spec_task *row,
		     const struct cred *who);
/* May the same people be told of all rows as when it was read? */
bool spec_tasks_same_readers(const struct spec_tasks *t, int session_fd);
/* As spec_images_append(), several rows at once. */
int spec_tasks_append_all(int session_fd, const struct spec_task *rows, size_t nr,
			  struct err *err);
int spec_tasks_append(int session_fd, const struct spec_task *row, struct err *err);
/* Accepts a zeroed table. */
void spec_tasks_fini(struct spec_tasks *t);

#endif
