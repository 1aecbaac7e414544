/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_REASONS_H
#define OPFS_TREE_REASONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/strbuf.h"

/*
 * Why lookups failed: the last 32 of each user, for /status.  Thread safe, bounded: the
 * users whose last failure is oldest are dropped first.
 */
struct reasons;

struct reasons *reasons_new(void);
void reasons_free(struct reasons *r);
/* A reason that repeats the one before it is counted, not stored again. */
void reasons_add(struct reasons *r, uid_t uid, const char *text);
/* Appends one line each, the newest first. */
void reasons_show(struct reasons *r, uid_t uid, struct strbuf *out);

/* A name that shells, file managers and indexers try everywhere. */
bool reasons_is_probe(const char *name, size_t len);

#endif
