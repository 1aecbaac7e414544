/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_PROCFS_H
#define COLLECTOR_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* What /proc tells of processes that started before the collector. */
struct coll_tasks;
struct coll_task;
struct coll_mmap;

/**
 * coll_proc_read - mappings, program, name, parent and threads of a process
 * Returns 0, -ESRCH if there is no such process, -EACCES if it may not be looked at.
 */
int coll_proc_read(struct coll_tasks *t, uint32_t tgid, struct err *err);

/* All processes, as coll_proc_read(); those that end meanwhile are passed over. */
int coll_proc_read_all(struct coll_tasks *t, struct err *err);

/* Calls back for every thread of a process; stops at non-zero and returns it. */
int coll_proc_each_thread(uint32_t tgid, int (*visit)(void *ctx, uint32_t tid), void *ctx);

/**
 * coll_proc_maps_line - one line of /proc/PID/maps
 * @line: NUL-terminated, without newline; the name is unescaped in place and borrowed
 * Returns true for an executable mapping, whose fields are then in @out.
 */
bool coll_proc_maps_line(char *line, struct coll_mmap *out);

/* The process that a thread belongs to; 0 if there is none. */
uint32_t coll_proc_tgid(uint32_t tid);

/* The process that started it, as long as that lives; 0: unknown. */
uint32_t coll_proc_parent(uint32_t tgid);

/* The command line with blanks between the words; NULL if unknown.  Heap.  May wait for
 * the process: only within coll_aside(). */
char *coll_proc_cmdline(uint32_t tgid);
/* The cgroup (of version 2, else the first); NULL if unknown.  Heap. */
char *coll_proc_cgroup(uint32_t tgid);

#endif
