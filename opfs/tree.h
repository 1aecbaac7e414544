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
#include "opfs/text.h"
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
	PLACE_MORE,    /* "more:": the dear files of a profile */
	PLACE_ENTRIES, /* a report that is a directory, or a directory in it */
	PLACE_EVENTS,  /* "events" of the root, or an event in it */
};

struct place_base;

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
	const char *root_name;       /* FILE at the root: "README" or "status"; of an event */
	char *target;                /* LINK */
	char *entry; /* in a report that is a directory: FILE which, ENTRIES below what,
			as report_entries has it; "" is the report itself.
			EVENTS and their FILEs: of which event, "" of none */
	struct place_base *base; /* reference: the older side of diff:, or NULL */
	bool of_base;            /* @tag and @value are open in @base */
};

/* What diff: compares with.  Immutable. */
struct place_base {
	int refs; /* atomic */
	struct place p; /* PROFILE, or PREFIX while a value of it is open; has no base */
	uint64_t given; /* bits of the selecting tags that came behind diff: */
	char *dir;      /* its session directory; NULL: that of the tree */
};

/* Will nothing that a place shows change any more?  Not at the root. */
static inline bool place_saved(const struct place *p)
{
	return p->cat && p->cat->saved && !spec_span_tag(p->spec) &&
	       (!p->base || place_saved(&p->base->p));
}

/* A number that is another one when what the place shows may be. */
static inline uint64_t place_generation(const struct place *p)
{
	uint64_t base = p->base ? p->base->p.cat->generation : 0;

	return (p->cat ? p->cat->generation : 0) ^ base << 32;
}

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
/* The profile that a PLACE_FILE shows, with diff: a comparison.  Errors of tree_text(). */
int tree_shown(struct tree *t, const struct place *p, const struct viewer *v,
	       struct profile **out, struct err *err);

/**
 * tree_check - can a PLACE_FILE or PLACE_ENTRIES be, as far as its path tells?
 * What tree_text() asks first.  0, -EINVAL for tags that contradict the file or each
 * other, -EACCES, -EINTR, -ENOMEM.
 */
int tree_check(struct tree *t, const struct place *p, const struct viewer *v,
	       struct err *err);

/* Appends the path that means the same: spec_format() of both sides. */
void tree_format(const struct place *p, struct strbuf *out);

/* The profile that a PLACE_FILE below a session shows: a reference.  Errors as
 * tree_text(). */
int tree_shown(struct tree *t, const struct place *p, const struct viewer *v,
	       struct profile **out, struct err *err);

/* Samples below a directory (its st_size), of the whole session (for percent), and the
 * time of the last drain in CLOCK_REALTIME ns (mtime). */
uint64_t tree_samples(const struct place *p);
uint64_t tree_session_samples(const struct place *p);
uint64_t tree_mtime_ns(const struct place *p);
/* The process whose samples a directory of tgid: or tid: has, or NULL: several, or not
 * known.  Dies with the place. */
const struct spec_task *tree_task(const struct place *p);
/* A canonical key: of a directory its specification; of a file also its generation. */
void tree_key(const struct place *p, struct strbuf *out);
/* The directory session NAME may be seen by: st_mode bits of samples/NAME for others. */
int tree_mode(struct tree *t, const struct place *p, mode_t *mode, uid_t *uid,
	      gid_t *gid);

#endif
