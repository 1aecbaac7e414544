/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BOX_H
#define BASE_BOX_H

#include <stdbool.h>
#include <stddef.h>
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

enum {
	BOX_FD = 3,        /* in a job's process: its socket */
	BOX_MAX_JOBS = 64, /* at once; more wait in box_job() until one has ended */
	BOX_MAX_STUCK = 16,
	BOX_NO_JOB = 127, /* exit status of a job that could not be forked or begun */
};

struct box_limits {
	uint32_t cpu_s; /* of processor time; for the job itself to see to */
	/* In one wait, as far as seen (base/box/state.h), for a disk or for what comes
	 * over its socket; 0: for ever.  The box ends a job that waits for longer. */
	uint32_t blocked_ms;
	uint32_t waits_ms; /* in all its waits together; 0: any time */
	/* Whose job it is.  Unless 0, no more of his are begun while BOX_MAX_STUCK that
	 * were killed are still there: a file system may hold them for ever. */
	uint32_t owner;
};

/* What a program has done in boxes. */
struct box_kind {
	/* Of the process, which shows 15 characters, and in its command line
	 * "--box=NAME". */
	const char *name;
	/* Called once, in the box, before any job.  0, or the box ends.  NULL:
	 * nothing. */
	int (*prepare)(void);
	/**
	 * Does one job in the process that was forked for it.  BOX_FD is the job's
	 * socket; 0 and 1 are /dev/null; nothing else is open but stderr.  The working
	 * directory is "/", SIGPIPE is ignored, and other signals do what they do by
	 * default.
	 * @box: who forked it.  Before it takes other rights the job dies with the box.
	 * Returns an exit status.
	 */
	int (*job)(pid_t box, const struct box_limits *limits);
	bool quiet; /* stderr of box and jobs is /dev/null */
};

/* A box, from the outside.  BOX_NONE is none. */
struct box {
	pid_t pid;   /* 0: none */
	int control; /* -1: none */
};

#define BOX_NONE                                                                         \
	{                                                                                \
		.control = -1                                                            \
	}

/* How a job ended: written behind everything that it wrote itself to its socket, unless
 * the box has gone as well.  Then comes the end, also if the process could not be
 * killed. */
#define BOX_TRAILER_MAGIC 0x72546d79u
enum box_end { BOX_END_ITSELF, BOX_END_BLOCKED };

struct box_trailer {
	uint32_t magic;
	int32_t status; /* as waitpid(); BOX_NO_JOB << 8: it was not forked */
	uint32_t end;   /* enum box_end */
};

/**
 * box_start - starts a box
 * @program: what to execute, an absolute path; NULL: /proc/self/exe
 * It belongs to this process, and not to one that this process forks.
 * Returns 0 or -errno.
 */
int box_start(const struct box_kind *kind, const char *program, struct box *out,
	      struct err *err);
/* Ends it, with the jobs that it has, and waits for it.  BOX_NONE is fine. */
void box_end(struct box *b);

/**
 * box_job - starts a job
 * @fd: its end of a socket pair (SOCK_STREAM); stays the caller's, who closes it
 * Closing the other end ends the job.  Threads may call it at the same time.
 * Returns 0, or -errno if the box has died.  One that dies later takes the job along: the
 * other end sees that as an end without a trailer.
 */
int box_job(const struct box *b, int fd, const struct box_limits *limits);

/* Whether this process was started as a box. */
bool box_wanted(int argc, char **argv);
/* Serves until the program that started it has gone.  Returns an exit status. */
int box_main(const struct box_kind *const *kinds, size_t nr, int argc, char **argv);

#endif
