/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_WORDS_H
#define COLLECTOR_WHO_WORDS_H

#include <stdbool.h>

/*
 * Command line and cgroup of a process.  A fork shares those of its parent, as the kernel
 * does; after an exec the command line is another, and only the cgroup still holds.
 */
struct coll_words {
	unsigned refs;
	bool sure;              /* /proc told both of this very program */
	char *cmdline, *cgroup; /* NULL: unknown */
};

/* Copies both, each of which may be NULL.  NULL if out of memory. */
struct coll_words *coll_words_new(const char *cmdline, const char *cgroup, bool sure);
/* What /proc told of a process of which @old (NULL: nothing) was known: of one that is
 * just ending it tells less. */
struct coll_words *coll_words_learn(const struct coll_words *old, const char *cmdline,
				    const char *cgroup);
/* NULL is fine for both. */
struct coll_words *coll_words_get(struct coll_words *w);
void coll_words_put(struct coll_words *w);

#endif
