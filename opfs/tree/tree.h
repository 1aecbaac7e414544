/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_TREE_H
#define OPFS_TREE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cache.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/viewer.h"
#include "opfs/tree/place.h"

/*
 * The tree: what a path means.  Front ends (mount, ls, cat, why) only translate; every
 * rule of lookup and listing is here.
 */

struct tree; /* session directory, catalogs, symbols, caches, reasons: one a program */

struct tree_options {
	const char *session_dir;
	const struct report_set *reports; /* the files there are; outlive the tree */
	bool shared;            /* other users may ask: check what each may see */
	uid_t owner;            /* who mounted */
	size_t cache_bytes;     /* bound on all that is cached */
	const char *mountpoint; /* absolute; or NULL */
	const char *about;      /* one line for /status: mount point and options */
};
int tree_new(const struct tree_options *o, struct tree **out, struct err *err);
void tree_free(struct tree *t);
/* The cache, for a front end to keep more in it; freed with the tree. */
struct cache *tree_cache(struct tree *t);

/**
 * tree_step - one component of a path
 * @name: bytes of the component, as typed
 * Returns 0 and @to (the caller's, place_fini()), -ENOENT (selects nothing), -EINVAL
 * (malformed value), -EACCES, -EINTR (@v has gone), with the reason in @err; -EAGAIN: @v
 * wants a quick answer, and this one needs sample files or binaries, or a look at paths:
 * a front end then hands the step to a worker.  The same holds for tree_refresh(),
 * tree_list() and tree_text().  Failures are kept for /status as reasons of v->cred.uid,
 * unless @name is a probe of shells and file managers (".hidden", "autorun.inf" ...).
 */
int tree_step(struct tree *t, const struct place *from, const char *name, size_t len,
	      const struct viewer *v, struct place *to, struct err *err);

/* tree_step() over a whole path; on failure *bad (if given) is the offset of the
 * component that failed, and @err tells what would match there. */
int tree_walk(struct tree *t, const char *path, const struct viewer *v, struct place *out,
	      size_t *bad, struct err *err);

/* Do a tag's values, and what they select, depend on whose binaries may be read, of which
 * processes a user is told, or which sessions he may see? */
bool tree_tag_differs(const struct spec_tag *tag);

/* What can be said of a name in a directory before looking for it. */
struct tree_hint {
	/* If it leads anywhere, it leads to a directory; and to find out, sessions have
	 * to be read, or files outside the session directory. */
	bool slow;
	/* Users with different rights may find different things behind it. */
	bool personal;
};
struct tree_hint tree_hint(const struct place *from, const char *name, size_t len);

/* Is there a session of this name, as it is stored?  "current" there is always. */
bool tree_has_session(const struct tree *t, const char *name);

/* Moves a place to the newest generation of its sessions; -ENOENT if it selects nothing
 * there any more, or the session has gone. */
int tree_refresh(struct tree *t, struct place *p, const struct viewer *v,
		 struct err *err);

/* Gives back the catalogs and profiles that are kept of a session of the tree's own
 * directory, and of sums that have it, see catalog_store_forget(). */
void tree_forget(struct tree *t, const char *session);

/* Adds a line to those that a user reads in /status: why something failed. */
void tree_tell(struct tree *t, uid_t uid, const char *why);

struct tree_entry {
	const char *name; /* dies after the callback */
	enum place_kind kind;
};
int tree_list(struct tree *t, const struct place *p, const struct viewer *v,
	      int (*emit)(void *ctx, const struct tree_entry *e), void *ctx,
	      struct err *err);

/**
 * tree_text - the content of a PLACE_FILE at its generation, made or from the cache
 * Texts over 16 MiB live in an unlinked temporary file.
 */
int tree_text(struct tree *t, const struct place *p, const struct viewer *v,
	      struct text **out, struct err *err);
/**
 * tree_write - gives the content of a PLACE_FILE to a sink while it is made
 * For who wants it once: it is not kept, and what fails late was written in part.
 * Errors as tree_text(), -ENOMEM if the sink failed; -ENOTSUP, without a message: this
 * content is not made from its beginning to its end, tree_text() has it.
 */
int tree_write(struct tree *t, const struct place *p, const struct viewer *v,
	       struct strbuf_sink *sink, struct err *err);
/* tree_text() if it is cached already, else NULL: never blocks. */
struct text *tree_text_cached(struct tree *t, const struct place *p,
			      const struct viewer *v);
/* text_is_good(), of what tree_text() gave: also, have no debug files come since? */
bool tree_text_is_good(struct tree *t, const struct text *x);
/* Do sessions have to be read for the text of a file that is of none? */
bool tree_text_is_slow(const struct place *p);
/* The profile that a PLACE_FILE shows, with diff: compared.  Errors as tree_text(). */
int tree_shown(struct tree *t, const struct place *p, const struct viewer *v,
	       struct profile **out, struct err *err);

/**
 * tree_check - can a PLACE_FILE or PLACE_ENTRIES be, as far as its path tells?
 * What tree_text() asks first.  0, -EINVAL for tags that contradict the file or each
 * other, -EACCES, -EINTR, -ENOMEM.
 */
int tree_check(struct tree *t, const struct place *p, const struct viewer *v,
	       struct err *err);

/* A name that shells and file managers try everywhere (".hidden", "autorun.inf"). */
bool tree_is_probe(const char *name, size_t len);

/* Whose rights the rows of processes need that are told to @v; NULL: all may be told. */
const struct viewer *tree_reader(const struct tree *t, const struct viewer *v);

/* A canonical key: of a directory its specification; of a file also its generation. */
void tree_key(const struct place *p, struct strbuf *out);
/* The mode and owner of a place's session directory, as the kernel would check them on
 * the way to it; of several sessions, what all of them allow. */
int tree_mode(struct tree *t, const struct place *p, mode_t *mode, uid_t *uid,
	      gid_t *gid);

#endif
