/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_SESSION_CATALOG_STORE_H
#define OPFS_SESSION_CATALOG_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/viewer.h"
#include "opfs/session/catalog.h"

/*
 * The catalogs of a session directory, one for each set of sessions that was asked for.
 * stats/live says whether a session changed; one without it is read again after a second,
 * and gets a new generation only if something changed.  Catalogs of single sessions that
 * will never change (they have a MANIFEST) are kept as well: a change in one session of a
 * sum makes none of the others be read again.  Thread safe; concurrent loads of one
 * set are done once.
 */
struct catalog_store;
/* @trusted: if other users read, whose sessions and links are trusted, besides root's,
 * see struct catalog_source; else NULL. */
int catalog_store_new(const char *session_dir, const uid_t *trusted,
		      struct catalog_store **out, struct err *err);
void catalog_store_free(struct catalog_store *s);
int catalog_store_fd(const struct catalog_store *s); /* the session directory */
const uid_t *catalog_store_trusted(const struct catalog_store *s); /* or NULL */
/* Attributes of a session's directory, and of the one above (NULL: not wanted): 0 or
 * -errno, see spec_session_stat(). */
int catalog_store_stat(const struct catalog_store *s, const char *session,
		       struct stat *samples, struct stat *st);
/* Is a session read without bounds: is it of a trusted owner, or are all trusted? */
bool catalog_store_trusts(const struct catalog_store *s, const char *session);
const char *catalog_store_path(const struct catalog_store *s);
/* What catalog_store_get() would answer at once, without reading a session; a reference,
 * or NULL. */
struct catalog *catalog_store_ready(struct catalog_store *s, char *const *names,
				    size_t nr);
/* @names: sorted with strcmp(), none twice. */
int catalog_store_get(struct catalog_store *s, char *const *names, size_t nr,
		      const struct viewer *v, struct catalog **out, struct err *err);
/*
 * Says that the sessions of @c may have been exchanged since: the next
 * catalog_store_get() of them looks at once, also if it looked at them a moment ago.
 */
void catalog_store_doubt(struct catalog_store *s, const struct catalog *c);
/* Gives back what is kept of a session, and of sums that have it: it has gone, or another
 * one may be in its place.  For memory only, nothing outdated is ever shown; what is in
 * use, or just being read, stays. */
void catalog_store_forget(struct catalog_store *s, const char *session);

#endif
