/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BOX_H
#define BASE_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/*
 * Work that other processes do, since it may crash, block for ever, or need other rights.
 * A box is a small process, this program executed anew, which forks one process a job: it
 * has one thread, little memory and nothing open, so forking it is quick and safe, and
 * nothing that the program opens, maps or locks goes along.  A program that uses boxes
 * begins main() with
 *	if (box_wanted(argc, argv))
 *		return box_main(kinds, nr, argc, argv);
 */

enum { BOX_FD = 3 }; /* in a job's process: its socket */

struct box_limits {
	uint32_t cpu_s;      /* of processor time; 0: as much as it likes */
	uint32_t blocked_ms; /* of being seen blocked, as for a disk; 0: for ever */
};

/* What a program has done in boxes. */
struct box_kind {
	const char *name; /* of the process, and in its command line "--box=NAME" */
	/* Called once, in the box, before any job.  0, or the box ends.  NULL: nothing. */
	int (*prepare)(void);
	/**
	 * Does one job in the process that was forked for it.  BOX_FD is the job's socket;
	 * 0 and 1 are /dev/null; nothing else is open but stderr.
	 * @box: who forked it.  Before it takes other rights the job dies with the box.
	 * Returns an exit status.
	 */
	int (*job)(pid_t box, const struct box_limits *limits);
	bool quiet; /* jobs have no stderr */
};

/* A box, from the outside.  BOX_NONE is none. */
struct box {
	pid_t pid;   /* 0: none */
	int control; /* -1: none */
};

#define BOX_NONE { .control = -1 }

/* How a job ended: written behind everything that it wrote itself to its socket, unless the
 * box has gone as well. */
#define BOX_TRAILER_MAGIC 0x72546d79u
enum box_end { BOX_END_ITSELF, BOX_END_BLOCKED };

struct box_trailer {
	uint32_t magic;
	int32_t status; /* as waitpid(); 127 << 8: it could not be forked */
	uint32_t end;   /* enum box_end */
};

/**
 * box_start - starts a box
 * @program: what to execute; NULL: /proc/self/exe
 * Returns 0 or -errno.
 */
int box_start(const struct box_kind *kind, const char *program, struct box *out,
	      struct err *err);
/* Ends it, with the jobs that it has, and waits for it.  BOX_NONE is fine. */
void box_end(struct box *b);

/**
 * box_job - starts a job
 * @fd: its end of a socket pair (SOCK_STREAM); stays the caller's, who closes it
 * Closing the other end ends the job.  Returns 0, or -errno if the box has died.
 */
int box_job(const struct box *b, int fd, const struct box_limits *limits);

/* Whether this process was started as a box. */
bool box_wanted(int argc, char **argv);
/* Serves until the program that started it has gone.  Returns an exit status. */
int box_main(const struct box_kind *const *kinds, size_t nr, int argc, char **argv);

#endif
