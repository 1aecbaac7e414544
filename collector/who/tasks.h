/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_TASKS_H
#define COLLECTOR_WHO_TASKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collector/who/images.h"
#include "collector/who/maps.h"
#include "collector/who/numbers.h"
#include "collector/who/threads.h"
#include "collector/who/words.h"
#include "libspec/session/tasks.h"

/* Processes: who they are, what they run, what is mapped in them. */

struct coll_task {
	uint32_t tgid, parent;
	uint32_t stored; /* as coll_tasks_stored() gives it; 0: not asked for yet */
	char comm[COLL_TASK_COMM]; /* of its first thread */
	uint64_t start_ns;         /* CLOCK_MONOTONIC; 0: unknown */
	struct coll_space *space;
	struct coll_words *words; /* NULL: unknown */
	/* the binary it executes: the first file mapped after exec; NULL: unknown yet */
	struct coll_sighting *exe;
	bool want_exe;   /* after an exec, until the first file is mapped */
	bool in_tree;    /* its samples are asked for */
	bool await_exec; /* it is, once it has executed the command */
	bool known;      /* its mappings were seen from the start, or read from /proc */
	bool gone;       /* /proc has nothing more to say */
	bool asked;      /* /proc is being asked */
	bool noted;      /* the tasks table has its present state, */
	bool has_row;    /* or an earlier one */
	bool told;       /* a source told of it that is told of task switches, */
	uint32_t execs;  /* and how often it had executed a program */
	uint64_t gaps;   /* as struct coll_collect's when its mappings were read again, */
	uint64_t read_ns; /* and when that was */
	uint64_t dead_ns; /* a thread ended then, perhaps the last one; 0: none did */
	struct coll_task *next_dead;
};

enum { COLL_TASKS_FOUND = 64 }; /* power of two */

struct coll_task_note; /* a row of the tasks table that is to be written */

struct coll_tasks {
	struct map_u64 by_tgid;
	struct coll_task *found[COLL_TASKS_FOUND]; /* last, by number; or NULL */
	struct coll_task *dead, **dead_end;        /* perhaps; in the order of @dead_ns */
	struct coll_threads threads;               /* the others of each process */
	struct coll_images *images;                /* borrowed */
	int session_fd;                            /* -1: no table is kept */
	bool saved; /* a recorded stream: /proc tells of other processes by now */
	struct coll_asker *asker; /* borrowed; NULL: /proc is read at once */
	VEC(struct coll_task_note *) notes;
	struct coll_numbers numbers; /* of this session */
};

void coll_tasks_init(struct coll_tasks *t, struct coll_images *images, int session_fd);
void coll_tasks_fini(struct coll_tasks *t);

/* The process, or NULL. */
struct coll_task *coll_tasks_find(struct coll_tasks *t, uint32_t tgid);
/* The process, made if new; NULL if out of memory. */
struct coll_task *coll_tasks_need(struct coll_tasks *t, uint32_t tgid);

/* What records say.  0 or -ENOMEM. */
int coll_tasks_mmap(struct coll_tasks *t, uint32_t tgid, const struct coll_mmap *m);
int coll_tasks_fork(struct coll_tasks *t, const struct coll_rec *rec);
int coll_tasks_comm(struct coll_tasks *t, const struct coll_rec *rec);
void coll_tasks_exit(struct coll_tasks *t, const struct coll_rec *rec);

/**
 * coll_tasks_switch - what a source says that is told of task switches
 * @who: of a sample of process @tgid, thread @tid
 * @exe: the application, or NULL
 * Makes the process, or another in the place of one that had its number before.
 * Returns it, with its parent told or 0, or NULL if out of memory.
 */
struct coll_task *coll_tasks_switch(struct coll_tasks *t, uint32_t tgid, uint32_t tid,
				    const struct coll_who *who,
				    struct coll_sighting *exe);

/* The number is in use again: whoever had it is over. */
void coll_tasks_forget(struct coll_tasks *t, uint32_t tgid);
/* Forgets processes that ended before @before_ns: late samples are not expected then.
 * Threads are not counted, for who knows how many there were: the kernel is asked. */
void coll_tasks_sweep(struct coll_tasks *t, uint64_t before_ns);

/* Adds the process to those whose samples are asked for. */
void coll_tasks_adopt(struct coll_task *task);

/* Tells the images table which files are mapped; with @images, forgets images of memory
 * without a file, which are then found anew. */
void coll_tasks_keep(struct coll_tasks *t, bool images);
/* Goes on in another session, whose table has nobody yet. */
void coll_tasks_move(struct coll_tasks *t, int session_fd);
/* Takes processes for dead that /proc does not know: their ends were lost. */
void coll_tasks_bury(struct coll_tasks *t, uint64_t now_ns);
/* Forgets everybody. */
void coll_tasks_reset(struct coll_tasks *t);

/* The number that samples of the process are filed under: its own, or, if another process
 * of this session had that, the one that libspec/name/pid.h tells. */
uint32_t coll_tasks_stored(struct coll_tasks *t, struct coll_task *task);
/* Takes the numbers of a session that is added to for used. */
void coll_tasks_used(struct coll_tasks *t);

/* What /proc says of the process, unless it is of another one that has its number by now:
 * then -ESRCH.  0 or -ENOMEM. */
struct coll_proc;
int coll_tasks_learn(struct coll_tasks *t, struct coll_task *task,
		     struct coll_proc *proc);

/* Notes the process for its row, if that was not done for its present state, and asks for
 * its command line and cgroup if they are not known. */
void coll_tasks_note(struct coll_tasks *t, struct coll_task *task);
/* The same for a thread that is not its first.  @stored, @stored_tid: the numbers that
 * its samples are filed under. */
void coll_tasks_note_thread(struct coll_tasks *t, const struct coll_task *task,
			    uint32_t tid, uint32_t stored, uint32_t stored_tid);
/* Writes the rows of those noted whose question is not open, or of @all, with what is
 * known.  0 or -errno, and the rows are lost. */
int coll_tasks_write_notes(struct coll_tasks *t, bool all, struct err *err);

#endif
