/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_HELPERS_H
#define LIBSYM_SERVER_HELPERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/box/box.h"
#include "base/err.h"

/*
 * The helpers of a server.  Jobs of one helper have their memory in the same places.  A
 * binary that takes one over learns them, so no other user's jobs are forked there.  No
 * lock: the caller's.
 */
struct sym_helper {
	struct box box;
	uid_t uid;
	unsigned started; /* so far: tells the death of an old one from a new one's */
	unsigned jobs;    /* that run */
	uint64_t used;    /* sym_helpers.used at its last job; 0: never */
};

struct sym_helpers {
	struct sym_helper *all;
	size_t nr;
	uint64_t used;
	const char *program; /* borrowed; NULL: /proc/self/exe */
};

/* @nr: as many as there may be jobs, so that one is always free.  0 or -ENOMEM. */
int sym_helpers_init(struct sym_helpers *hs, size_t nr, const char *program);
/* Ends all of them. */
void sym_helpers_fini(struct sym_helpers *hs);

/* The helper for one more job of @uid, whose last one it was; else that which nobody
 * needed for longest ends, and is his.  Until sym_helpers_give() it stays so. */
struct sym_helper *sym_helpers_take(struct sym_helpers *hs, uid_t uid);
void sym_helpers_give(struct sym_helper *h);

/**
 * sym_helpers_job - hands a job's socket to a helper, which is started if it does not run
 * @fd: as for box_job()
 * @which: number of the process that has it
 * Returns 0 or -errno.
 */
int sym_helpers_job(struct sym_helpers *hs, struct sym_helper *h, int fd,
		    const struct box_limits *limits, unsigned *which, struct err *err);
/* Forgets process number @which of a helper, unless that was done. */
void sym_helpers_forget(struct sym_helper *h, unsigned which);

#endif
