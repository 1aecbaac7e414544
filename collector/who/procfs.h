/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_PROCFS_H
#define COLLECTOR_WHO_PROCFS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "collector/rec/rec.h"

/* What /proc tells of processes. */

enum coll_proc_text {
	COLL_PROC_EXE,     /* the program: what /proc/PID/exe leads to */
	COLL_PROC_CMDLINE, /* with blanks between the words */
	COLL_PROC_CGROUP,  /* of version 2, else the first */
	COLL_PROC_MAPS,    /* lines of /proc/PID/maps, of executable mappings only */
	COLL_PROC_NR_TEXTS
};

/* A thread that is not its first. */
struct coll_proc_thread {
	uint32_t tid;
	char comm[COLL_TASK_COMM];
	uint64_t start_ns; /* CLOCK_MONOTONIC, in ticks */
};

#define COLL_UID_UNKNOWN UINT32_MAX

struct coll_proc {
	uint32_t parent;
	uint32_t uid;      /* the real user, or COLL_UID_UNKNOWN */
	uint64_t start_ns; /* CLOCK_MONOTONIC, in ticks */
	char comm[COLL_TASK_COMM];
	char *text[COLL_PROC_NR_TEXTS]; /* in the answer; NULL: unknown */
	const char *threads;            /* in the answer: see coll_proc_thread() */
	size_t nr_threads;
};

/*
 * Much of it waits for the process, which may wait for ever, so it is a question for a
 * helper (collector/who/asker.h): COLL_ASK_PROCESS, COLL_ASK_THREADS with its threads, or
 * COLL_ASK_WORDS without its mappings.  The question is the number of the process, as
 * uint32_t.
 */
/* In the helper. */
void coll_proc_answer(char *question, size_t len, struct strbuf *out, int *file);
void coll_proc_answer_threads(char *question, size_t len, struct strbuf *out, int *file);
void coll_proc_answer_words(char *question, size_t len, struct strbuf *out, int *file);

/**
 * coll_proc_take - takes an answer apart
 * @bytes: changed, and must outlive @out
 * Returns 0; -ESRCH: there is no such process, or another by now; -EACCES: it may not be
 * looked at; another -errno of reading; -EBADMSG: that is no answer.
 */
int coll_proc_take(char *bytes, size_t len, struct coll_proc *out);
/* One of @nr_threads. */
struct coll_proc_thread coll_proc_thread(const struct coll_proc *proc, size_t i);

/* ---- what can be read at once, for nobody waits there */

/* Calls back for every process; stops at non-zero and returns it. */
int coll_proc_each(int (*visit)(void *ctx, uint32_t tgid), void *ctx);
/* Calls back for every thread of a process; stops at non-zero and returns it. */
int coll_proc_each_thread(uint32_t tgid, int (*visit)(void *ctx, uint32_t tid),
			  void *ctx);

/**
 * coll_proc_maps_line - one line of /proc/PID/maps
 * @line: NUL-terminated, without newline; the name is unescaped in place and borrowed
 * Returns true for an executable mapping, whose fields are then in @out.
 */
bool coll_proc_maps_line(char *line, struct coll_mmap *out);

/* Only where waiting does no harm: calls back for each executable mapping, as long as it
 * returns false; true if one was found. */
bool coll_proc_find_mapping(uint32_t tgid,
			    bool (*is_it)(void *ctx, const struct coll_mmap *m),
			    void *ctx);

/* The process that a thread belongs to; 0 if there is none. */
uint32_t coll_proc_tgid(uint32_t tid);

/* The process that started it, as long as that lives; 0: unknown. */
uint32_t coll_proc_parent(uint32_t tgid);

/* When it was started: CLOCK_MONOTONIC, in ticks, to be compared with coll_same_start();
 * 0: there is no such process. */
uint64_t coll_proc_start(uint32_t tgid);

/* True if no thread of the process is alive, whether somebody waited for it or not. */
bool coll_proc_is_over(uint32_t tgid);
/* The same of one thread. */
bool coll_proc_thread_is_over(uint32_t tid);

/* The user whom the kernel gives /proc/PID: as a rule the effective one.  Cheap.
 * COLL_UID_UNKNOWN: there is no such process. */
uint32_t coll_proc_owner(uint32_t tgid);

/* Only where waiting does no harm: the command line (may wait for the process) and the
 * cgroup; NULL if unknown.  Heap. */
char *coll_proc_cmdline(uint32_t tgid);
char *coll_proc_cgroup(uint32_t tgid);
/* The real user, and the effective one; COLL_UID_UNKNOWN: there is no such process. */
uint32_t coll_proc_uid(uint32_t tgid);
uint32_t coll_proc_euid(uint32_t tgid);
/* Its number in its own PID namespace; @tgid if that is unknown. */
uint32_t coll_proc_own_number(uint32_t tgid);

#endif
