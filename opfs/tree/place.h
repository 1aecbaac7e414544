/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_PLACE_H
#define OPFS_TREE_PLACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libspec/spec/spec.h"
#include "opfs/report/report.h"
#include "opfs/session/catalog.h"

/* A place in the tree: what a path means.  Holds no lock and no open file. */

enum place_kind {
	PLACE_ROOT,       /* sessions, README, status */
	PLACE_PROFILE,    /* a profile specification: a directory with reports */
	PLACE_VALUES,     /* "TAG:" or "TAG": the values of a tag in the selection */
	PLACE_CALLS,      /* a function in a call tree: below calls: and the like */
	PLACE_PREFIX,     /* the beginning of an image's path, itself no image */
	PLACE_MORE,       /* "more:": the slow files of a profile */
	PLACE_ENTRIES,    /* a report that is a directory, or a directory in it */
	PLACE_EVENTS,     /* "events" of the root, or an event in it */
	PLACE_LINK,       /* a listed short cut to another path */
	PLACE_FILE,       /* a report, or a file in one that is a directory */
	PLACE_ROOT_FILE,  /* README and status of the root */
	PLACE_EVENT_FILE, /* what is told of an event */
};

/* Of each kind. */
extern const struct place_kind_info {
	mode_t mode;         /* as stat() has it, where everybody may read */
	const char *meaning; /* of a path that leads there */
} place_kinds[];

struct place_base;
struct browse_tree; /* opfs/tree/browse_tree.h */

struct selection {
	int refs;        /* atomic */
	uint32_t *files; /* indices into catalog.files, ascending */
	size_t nr;
	uint64_t samples;      /* in them; with symbol:, of those symbols */
	bool empty;            /* call trees choose none of them */
	atomic_size_t nr_apps; /* 1 + how many applications they are of; 0: not counted */
	struct selection *of;  /* NULL, or whose @files these are: a reference */
};

struct place {
	enum place_kind kind;
	bool listed;         /* lists axes too: what a link leads to does not */
	struct catalog *cat; /* reference; NULL at the root */
	struct spec *spec;   /* reference: sessions and tags so far; NULL at the root */
	const struct spec_tag *tag; /* the tag whose value is open, or NULL */
	char *value;           /* raw text of the open value so far, or NULL; @spec has
				  * it already if it names something (PROFILE) */
	struct selection *sel; /* reference: the sample files; NULL at the root */
	/* CALLS: reference, and which of its nodes; @spec does not have it, @tag is whose
	 * tree it is */
	struct browse_tree *browse;
	uint32_t at;
	const struct report *report; /* FILE, ENTRIES */
	char *entry; /* in a report that is a directory: FILE which, ENTRIES below what,
			as report_entries has it; "" is the report itself */
	const char *file;        /* ROOT_FILE, EVENT_FILE: its name; static */
	char *event;             /* EVENTS, EVENT_FILE: of which event; "" of none */
	char *target;            /* LINK */
	struct place_base *base; /* reference: the older side of diff:, or NULL */
	bool of_base;            /* @tag and @value are open in @base */
};

/* What diff: compares with.  Immutable. */
struct place_base {
	int refs;       /* atomic */
	struct place p; /* PROFILE, or PREFIX while a value of it is open; has no base */
	uint64_t given; /* bits of the selecting tags that came behind diff: */
	char *dir;      /* its session directory; NULL: that of the tree */
};

static inline bool place_is_file(const struct place *p)
{
	return S_ISREG(place_kinds[p->kind].mode);
}

/* Is everything that a place shows final?  Never at the root. */
static inline bool place_saved(const struct place *p)
{
	return p->cat && p->cat->saved && !spec_span_tag(p->spec) &&
	       (!p->base || place_saved(&p->base->p));
}

/* Changes whenever what the place shows may change. */
static inline uint64_t place_generation(const struct place *p)
{
	uint64_t base = p->base ? p->base->p.cat->generation : 0;

	return (p->cat ? p->cat->generation : 0) ^ base << 32;
}

/* The root: of all sessions. */
void place_root(struct place *out);
/* 0 or -ENOMEM. */
int place_copy(const struct place *from, struct place *to);
void place_fini(struct place *p);

/* A place of a specification; takes references. */
int place_init(struct place *to, enum place_kind kind, struct catalog *cat,
	       struct spec *spec, struct selection *sel, const struct spec_tag *tag,
	       const char *value, struct err *err);
struct place_base *place_base_get(struct place_base *b); /* NULL is fine */
void place_base_put(struct place_base *b);
/* Takes over @side, also on failure; its directory is that of @like. */
int place_base_new(const struct place_base *like, struct place *side, uint64_t given,
		   struct place_base **out, struct err *err);

struct selection *selection_get(struct selection *s);
void selection_put(struct selection *s);
static inline void selection_putp(struct selection **s)
{
	selection_put(*s);
}

/* A copy; NULL of NULL, and out of memory, which *failed tells. */
char *place_text(const char *s, bool *failed);

/* Appends the path that means the same: spec_format() of both sides. */
void place_format(const struct place *p, struct strbuf *out);

/* Samples below a directory (its st_size), of the whole session (for percent), and the
 * time of the last drain in CLOCK_REALTIME ns (mtime). */
uint64_t place_samples(const struct place *p);
/* Of those in a call tree's directory: in the function itself (its st_blocks). */
uint64_t place_self(const struct place *p);
uint64_t place_session_samples(const struct place *p);
uint64_t place_mtime_ns(const struct place *p);
/* The path, or other name, of the one image that a directory of image: or lib-image: has,
 * or NULL. */
const char *place_image_path(const struct place *p);
/* The process whose samples a directory of tgid: has, or the thread of tid:, or NULL:
 * several, not known, or not for @reader.  Dies with the place. */
const struct spec_task *place_task(const struct place *p, const struct viewer *reader);

/* Does a tag choose among the samples of sessions?  Not those that choose sessions. */
static inline bool place_tag_selects(const struct spec_tag *tag)
{
	return !spec_tag_presents(tag) && tag->kind != SPEC_TAG_SESSIONS &&
	       tag->kind != SPEC_TAG_SPAN;
}
/* May what it means depend on symbolic links, and so on who may see them: is there a path
 * in a value that chooses images? */
bool place_follows_links(const struct place *p);
/* Is there a sample file with stacks in what is selected? */
bool place_has_stacks(const struct place *p);
/* Does a specification have such a tag?  If not, it means whole sessions. */
bool place_narrows(const struct spec *spec);

#endif
