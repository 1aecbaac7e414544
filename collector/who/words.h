/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_WORDS_H
#define COLLECTOR_WHO_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/who/procfs.h"

/*
 * Command line, cgroup and user of a process.  A fork shares those of its parent, as the
 * kernel does; after an exec the command line is another, and only the others hold.
 */
struct coll_words {
	unsigned refs;
	bool sure;              /* /proc told both of this very program */
	char *cmdline, *cgroup; /* NULL: unknown */
	uint32_t uid;           /* the real user, or COLL_UID_UNKNOWN */
};

/* Copies both, each of which may be NULL.  NULL if out of memory. */
struct coll_words *coll_words_new(const char *cmdline, const char *cgroup, uint32_t uid,
				  bool sure);
/* What /proc told of a process of which @old (NULL: nothing) was known: of one that is
 * just ending it tells less. */
struct coll_words *coll_words_learn(const struct coll_words *old,
				    const struct coll_proc *proc);
/* NULL is fine for both. */
struct coll_words *coll_words_get(struct coll_words *w);
void coll_words_put(struct coll_words *w);

#endif
