/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_H
#define OPFS_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/spec.h"
#include "opfs/catalog.h"
#include "opfs/report.h"
#include "opfs/viewer.h"

/*
 * The tree: what a path means.  Front ends (mount, ls, cat, why) only translate; every
 * rule of lookup and listing is here.  A place holds no lock and no open file.
 */
enum place_kind {
	PLACE_ROOT,    /* sessions, README, status */
	PLACE_PROFILE, /* a profile specification: a directory with reports */
	PLACE_VALUES,  /* "TAG:" or "TAG": the values of a tag in the selection */
	PLACE_PREFIX,  /* the beginning of an image's path, itself no image */
	PLACE_FILE,    /* a report, or README and status of the root */
	PLACE_LINK,    /* a listed short cut to another path */
};

struct place {
	enum place_kind kind;
	bool listed;         /* reached through listed names only: may nest */
	struct catalog *cat; /* reference; NULL at the root */
	struct spec *spec;   /* reference: sessions and tags so far; NULL at the root */
	const struct spec_tag *tag; /* the tag whose value is open, or NULL */
	char *value;           /* raw text of the open value so far, or NULL; @spec has
				  * it already if it names something (PROFILE) */
	struct selection *sel; /* reference: the sample files; NULL at the root */
	const struct report *report; /* FILE below a session */
	const char *root_name;       /* FILE at the root: "README" or "status" */
	char *target;                /* LINK */
};

struct tree; /* session directory, catalogs, symbols, caches, reasons: one a program */

struct tree_options {
	const char *session_dir;
	bool shared;            /* other users may ask: check what each may see */
	uid_t owner;            /* who mounted */
	size_t cache_bytes;     /* bound on cached profiles, texts and symbol tables */
	const char *mountpoint; /* absolute; never entered when links are resolved */
	const char *about;      /* one line for /status: mount point and options */
};
int tree_new(const struct tree_options *o, struct tree **out, struct err *err);
void tree_free(struct tree *t);

int tree_root(struct tree *t, struct place *out);
void place_fini(struct place *p);
int place_copy(const struct place *from, struct place *to);

/**
 * tree_step - one component of a path
 * @name: bytes of the component, as typed
 * Returns 0 and @to (the caller's, place_fini()), -ENOENT (selects nothing), -EINVAL
 * (malformed value), -EACCES, -EINTR (@v has gone), with the reason in @err.  Failures
 * are kept as reasons of v->uid for /status unless @name is a probe of shells and file
 * managers (".hidden", "autorun.inf" ...).
 */
int tree_step(struct tree *t, const struct place *from, const char *name, size_t len,
	      const struct viewer *v, struct place *to, struct err *err);

/* tree_step() over a whole path; on failure *bad (if given) is the offset of the
 * component that failed, and @err tells what would match there. */
int tree_walk(struct tree *t, const char *path, const struct viewer *v, struct place *out,
	      size_t *bad, struct err *err);

/* True if tree_step() of this component answers without reading sample files or binaries
 * and without looking at paths; @len 0: if tree_refresh() and tree_list() do.  Else a
 * front end hands them to a worker. */
bool tree_quick(struct tree *t, const struct place *p, const char *name, size_t len);

/* Moves a place to the newest generation of its sessions; -ENOENT if it selects nothing
 * there any more, or the session has gone. */
int tree_refresh(struct tree *t, struct place *p, const struct viewer *v,
		 struct err *err);

struct tree_entry {
	const char *name; /* dies after the callback */
	enum place_kind kind;
};
int tree_list(struct tree *t, const struct place *p, const struct viewer *v,
	      int (*emit)(void *ctx, const struct tree_entry *e), void *ctx,
	      struct err *err);

/* A text by reference count: what one open sees. */
struct text {
	int refs; /* atomic */
	char *data;
	size_t len;
	int fd; /* >= 0: the text is in this unlinked file instead of @data */
};
struct text *text_get(struct text *x);
void text_put(struct text *x);

/* A name that shells and file managers try everywhere (".hidden", "autorun.inf"). */
bool tree_is_probe(const char *name, size_t len);

/**
 * tree_text - the content of a PLACE_FILE at its generation, made or from the cache
 * Texts over 16 MiB live in an unlinked temporary file.
 */
int tree_text(struct tree *t, const struct place *p, const struct viewer *v,
	      struct text **out, struct err *err);
/* The same if it is cached already, else NULL: never blocks. */
struct text *tree_text_cached(struct tree *t, const struct place *p,
			      const struct viewer *v);

/* Samples below a directory (its st_size), of the whole session (for percent), and the
 * time of the last drain in CLOCK_REALTIME ns (mtime). */
uint64_t tree_samples(const struct place *p);
uint64_t tree_session_samples(const struct place *p);
uint64_t tree_mtime_ns(const struct place *p);
/* A canonical key: of a directory its specification; of a file also its generation. */
void tree_key(const struct place *p, struct strbuf *out);
/* The directory session NAME may be seen by: st_mode bits of samples/NAME for others. */
int tree_mode(struct tree *t, const struct place *p, mode_t *mode, uid_t *uid,
	      gid_t *gid);

#endif
