/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REASONS_H
#define OPFS_REASONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/strbuf.h"

/*
 * Why lookups failed: the last 32 of each user, for /status.  Thread safe, bounded: the
 * users heard of longest ago are forgotten first.
 */
struct reasons;

struct reasons *reasons_new(void);
void reasons_free(struct reasons *r);
/* What is the same as the one before it is counted, not repeated. */
void reasons_add(struct reasons *r, uid_t uid, const char *text);
/* Appends one line each, the newest first. */
void reasons_show(struct reasons *r, uid_t uid, struct strbuf *out);

/* A name that shells, file managers and indexers try everywhere. */
bool reasons_is_probe(const char *name, size_t len);

#endif
