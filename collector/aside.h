/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_ASIDE_H
#define COLLECTOR_ASIDE_H

#include <stddef.h>

#include "base/strbuf.h"

/*
 * Work that may never end: a profiled process can map files of a network or user-space
 * file system that does not answer, and /proc waits for a process that waits for such a
 * one.  The collector must not.  It is done by another process, forked from this one,
 * since what waits there cannot even be killed, and would keep all that it has open.
 */
enum {
	COLL_ASIDE_MS = 200,      /* how long the collector waits for somebody else's file */
	COLL_ASIDE_MAX = 32 << 20 /* bytes of a question, or an answer */
};

/* Shared by both processes: what is asked, and then the answer in its place. */
struct coll_aside {
	size_t len;
	char data[];
};

/**
 * coll_aside - has something done and waits for it, but not for ever
 * @work: called in the other process; takes the question out of its argument and puts the
 *	answer in.  It has copies of all memory and nothing that is open, and must not log.
 * @in: the question, of @len bytes
 * @out: the answer is appended
 * One after the other: not for several threads.  Returns 0; -ETIMEDOUT if it was not done
 * after @ms milliseconds; -EAGAIN if too many wait in vain already; -ENOMEM.
 */
int coll_aside(void (*work)(struct coll_aside *a), const void *in, size_t len,
	       struct strbuf *out, int ms);

/* How many processes wait in vain now. */
unsigned coll_aside_stuck(void);

/* Ends the other process, which else ends with this one. */
void coll_aside_end(void);

#endif
