/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_KNOWN_H
#define OPFS_SESSION_CATALOG_KNOWN_H

#include "opfs/session/catalog.h"

/*
 * The catalogs of single sessions that are in memory, in whatever caches, sums or
 * directories: one that was read again and is as it was is not there twice.  They are
 * known only as long as somebody else has a reference.  Thread safe.
 */

/* Sets c->hash: of all that a reader of the catalog could see. */
void catalog_hash(struct catalog *c);
/* What is known of the same session, with the same hash; a reference, or NULL. */
struct catalog *catalog_known(const struct catalog *c);
/* Makes @c known, unless another thread has made a like one known meanwhile: returns that
 * one, else NULL. */
struct catalog *catalog_know(struct catalog *c);
/* Called by catalog_put() before it frees what is known. */
void catalog_unknow(struct catalog *c);

#endif
