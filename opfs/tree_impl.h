/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_IMPL_H
#define OPFS_TREE_IMPL_H

#include <pthread.h>

#include "libsym/cache.h"
#include "libsym/server.h"
#include "opfs/cache.h"
#include "opfs/profile.h"
#include "opfs/reasons.h"
#include "opfs/resolve.h"
#include "opfs/tree.h"

/*
 * What the files tree_*.c share.
 *	tree.c         walking, freshness, what front ends ask about a place
 *	tree_place.c   places
 *	tree_root.c    components at the root: sessions
 *	tree_span.c    time: and last:
 *	tree_step.c    components below: files, links, tags
 *	tree_value.c   values of tags, which may span components
 *	tree_present.c values of tags that select nothing, and which files take them
 *	tree_diff.c    diff: and what selects behind it
 *	tree_other.c   other session directories, for diff:
 *	tree_reason.c  what to tell when something selects nothing
 *	tree_select.c  from a specification to sample files
 *	tree_symbol.c  profiles
 *	tree_filter.c  the symbols in them
 *	tree_names.c   how values are listed
 *	tree_list.c    directories
 *	tree_prefix.c  the beginning of a path
 *	tree_text.c    files
 *	tree_entries.c reports that are directories
 *	tree_status.c  README and status of the root
 *	tree_events.c  events of the root
 */
/* Session directories besides the tree's own. */
enum { TREE_MAX_OTHERS = 16 };
struct other {
	char *path;
	struct catalog_store *store;
	dev_t dev; /* of @path when it was opened */
	ino_t ino;
	unsigned refs; /* who asks it just now */
	uint64_t used; /* when it last was */
};
struct others {
	pthread_mutex_t lock; /* held while one is opened */
	uint64_t clock;
	struct other all[TREE_MAX_OTHERS];
};

struct tree {
	struct tree_options o; /* its strings are the tree's own */
	struct catalog_store *store;
	struct sym_server *server;
	struct sym_cache *syms;
	struct cache *cache;
	struct reasons *reasons;
	struct resolver *resolver;
	struct spans *spans;
	struct others others;
};

/* Somebody asks something of the tree. */
struct ask {
	struct tree *t;
	const struct viewer *v;
	bool quick; /* -EAGAIN instead of anything that may take time */
	bool probe; /* a name tried everywhere: its symbolic links are not looked at */
	struct err *err;
};

/* ---- tree.c */

/* A copy; NULL of NULL, and out of memory, which *failed tells. */
char *tree_copy(const char *s, bool *failed);
/* Keeps for /status why @name (NULL: the file @from itself) cannot be had. */
void tree_remember(struct tree *t, const struct place *from, const char *name,
		   const struct viewer *v, const struct err *err);

/* ---- tree_place.c */

/* A place of a specification; takes references. */
int tree_place_init(struct place *to, enum place_kind kind, struct catalog *cat,
		    struct spec *spec, struct selection *sel, const struct spec_tag *tag,
		    const char *value, struct err *err);
struct place_base *tree_base_get(struct place_base *b); /* NULL is fine */
void tree_base_put(struct place_base *b);
/* Takes over @side, in any case; its directory is that of @like. */
int tree_base_new(const struct place_base *like, struct place *side, uint64_t given,
		  struct place_base **out, struct err *err);

/* ---- tree_other.c */

void tree_others_init(struct others *o);
void tree_others_fini(struct others *o);
/* The newest catalog of sessions of @dir; NULL: of the tree's session directory.
 * -EAGAIN if a->quick and it would have to be read. */
int tree_catalog(const struct ask *a, const char *dir, const struct spec *spec,
		 struct catalog **out);
/* The session directory and the session that an absolute path means: "current" of it or
 * its only one, or the one whose directory it is. */
struct names;
int tree_find_session(const struct ask *a, const char *path, char **dir,
		      struct names *out);

/* ---- tree_diff.c */

/* Does a tag choose sessions' samples?  Not those that choose sessions. */
bool tree_selects(const struct spec_tag *tag);
int tree_diff(const struct ask *a, const struct place *from, const char *raw,
	      struct place *to);
/* Is a value of the tag one of the older side? */
bool tree_is_base_tag(const struct place *from, const struct spec_tag *tag);
/* Was it not given yet where it would count? */
bool tree_may_give(const struct place *from, const struct spec_tag *tag);
/* As tree_value() and tree_value_join(), behind diff:. */
int tree_base_value(const struct ask *a, const struct place *from,
		    const struct spec_tag *tag, const char *raw, struct place *to);
int tree_base_join(const struct ask *a, const struct place *from, const char *name,
		   struct place *to);
/* The older side as the place where a value of @tag is open. */
int tree_base_side(const struct ask *a, const struct place *p, const struct spec_tag *tag,
		   struct place *out);

/* ---- tree_present.c */

/* -EACCES to all but who mounted; @what: the tag that names host paths. */
int tree_only_owner(const struct ask *a, const char *what);
int tree_present(const struct ask *a, const struct place *from, const struct spec_tag *tag,
		 const char *raw, struct place *to);
/* The words that a tag takes; -ENOENT with an example if it takes anything. */
int tree_words(const struct ask *a, const struct spec_tag *tag, struct names *out);
/* 0, or -ENOENT with where the file is: some are of sessions, some of symbols only. */
int tree_is_here(const struct ask *a, const struct place *p, const struct report *r);
/* Is it listed in more: instead of the directory itself? */
bool tree_in_more(const struct place *p, const struct report *r);
/* tree_check() of a file that @p has, or is. */
int tree_takes(const struct ask *a, const struct place *p, const struct report *r);

/* ---- tree_select.c */

struct selection {
	int refs;        /* atomic */
	uint32_t *files; /* indices into catalog.files, ascending */
	size_t nr;
	uint64_t samples; /* in them; with symbol:, of those symbols */
};

struct selection *selection_get(struct selection *s);
void selection_put(struct selection *s);
static inline void selection_putp(struct selection **s)
{
	selection_put(*s);
}

/**
 * tree_select - the sample files that a specification selects
 * @prefix: NULL, or a tag of images whose value in @spec is the beginning of a path
 * An empty selection is no failure.  -EAGAIN if a->quick and it would take time.
 */
int tree_select(const struct ask *a, struct catalog *cat, const struct spec *spec,
		const struct spec_tag *prefix, struct selection **out);
/* @flat and the files of arcs that @spec selects, by application and caller. */
int tree_select_arcs(const struct ask *a, struct catalog *cat, const struct spec *spec,
		     const struct selection *flat, struct selection **out);
/* What values are matched with in a catalog.  @ctx must live as long as @out. */
struct select_ctx {
	const struct ask *a;
	const struct catalog *cat;
};
void tree_match_init(struct spec_match *out, struct select_ctx *ctx);

/* ---- tree_symbol.c */

extern const struct cache_kind tree_profile_kind;

/* Which files of arcs a specification selects: appended to keys. */
void tree_arcs_key(const struct spec *spec, struct strbuf *key);
/* Who may be shown what is cached: appended to keys. */
void tree_viewer_key(const struct viewer *v, struct strbuf *key);
/**
 * tree_profile - the profile of a place's specification, from the cache or loaded
 * @needs: PROFILE_...; a symbol: tag is applied to it
 */
int tree_profile(const struct ask *a, const struct place *p, unsigned needs,
		 struct profile **out);
/* Sums the symbols that @spec names; @sel is replaced by one that counts only those. */
int tree_select_symbols(const struct ask *a, struct catalog *cat, const struct spec *spec,
			struct selection **sel);
/* Is a symbol called so, as it is or demangled? */
int tree_has_symbol(const struct ask *a, const struct place *p, const char *name,
		    bool *found);
/* What the catalog knows of a place's files, whatever symbols are asked for. */
int tree_pairs(const struct ask *a, const struct place *p, struct profile **out);

/* ---- tree_filter.c */

/* Rows that symbol:, include-symbols: and exclude-symbols: leave. */
struct tree_filter {
	const struct spec_value *symbol, *include, *exclude; /* NULL: not given */
	const struct profile *p; /* whose rows are asked about */
	const struct profile *names; /* the same with names as sources have them */
	struct map_u64 by_sym; /* rows of @names, if that is another */
	bool *include_raw, *exclude_raw; /* of each item: it is meant verbatim */
};
/* The values are set already. */
int tree_filter_init(struct tree_filter *f, const struct profile *p,
		     const struct profile *names, struct err *err);
void tree_filter_fini(struct tree_filter *f);
bool tree_filter_keeps(void *ctx, const struct profile_row *row);
/* Is that its name, as it is or as it is shown? */
bool tree_is_named(const struct profile_row *row, const char *name);
/* How the symbols of a place are listed. */
int tree_symbol_names(const struct ask *a, const struct place *p, struct names *out);

/* ---- tree_value.c */

/**
 * tree_value - the place that a tag's value makes of another
 * @from: its specification (but for a value of the same tag) is refined
 * @raw: the value as typed so far
 */
int tree_value(const struct ask *a, const struct place *from, const struct spec_tag *tag,
	       const char *raw, struct place *to);
/* Does the tag leave images out? */
bool tree_is_exclusion(const struct spec_tag *tag);
/* One component more of the value that is open in @from. */
int tree_value_join(const struct ask *a, const struct place *from, const char *name,
		    struct place *to);
/* ---- tree_root.c */

int tree_step_root(const struct ask *a, const char *name, struct place *to);
/* The place of a sum of sessions.  @listed: by its exact name at the root. */
int tree_enter_sessions(const struct ask *a, char *const *names, size_t nr, bool listed,
			struct place *to);
/* As tree_enter_sessions(), with the other tags of @spec.  @dir: NULL, or another session
 * directory.  Refuses an empty selection only where sessions are not all that was asked. */
int tree_enter_in(const struct ask *a, const char *dir, const struct spec *spec,
		  struct place *to);
/* The sessions that session:RAW, session-exclude:RAW or diff:RAW means. */
int tree_session_list(const struct ask *a, const char *raw, struct names *out);
/* session:VALUE and session-exclude:VALUE. */
int tree_session_value(const struct ask *a, const char *raw, struct place *to);
int tree_session_exclude(const struct ask *a, const struct place *from, const char *raw,
			 struct place *to);
/* Names of the root that no session can have; listed with their first byte escaped. */
bool tree_is_reserved(const char *name);
void tree_listed_session(const char *name, struct strbuf *out);
/* May @v see the session?  Yes, unless the mount is shared and its modes say no. */
bool tree_may_see(const struct tree *t, const char *session, const struct viewer *v);

/* ---- tree_span.c */

/* time:VALUE and last:VALUE, at the root. */
int tree_span_value(const struct ask *a, const struct spec_tag *tag, const char *raw,
		    struct place *to);
/* @spec, which has a span, with the sessions that it means now. */
int tree_span_now(const struct ask *a, const struct spec *spec, struct spec **out);
/* tree_enter_in() of these sessions, all as they were at one moment. */
int tree_span_enter(const struct ask *a, const struct spec *spec, struct place *to);
/* The sessions that TAG:RAW means now, where a list of sessions can stand. */
int tree_span_list(const struct ask *a, const struct spec_tag *tag, const char *raw,
		   struct names *out);
/* Values worth listing. */
int tree_span_names(const struct ask *a, const struct spec_tag *tag, struct names *out);

/* ---- tree_step.c */

int tree_step_below(const struct ask *a, const struct place *from, const char *name,
		    struct place *to);

/* ---- tree_names.c */

/* Names, sorted and without duplicates; the caller's. */
struct names {
	char **data;
	size_t len, cap;
};
int names_add(struct names *n, const char *name);
void names_sort(struct names *n);
void names_fini(struct names *n);

/* How the values of a tag in a place are listed.  -EAGAIN as tree_select(). */
int tree_value_names(const struct ask *a, const struct place *p,
		     const struct spec_tag *tag, struct names *out);
/* What a tag says of a file's process; NULL: it is not known. */
const char *tree_task_text(const struct catalog_file *f, const struct spec_tag *tag);
bool tree_has_task(const struct catalog *cat, const struct spec_tag *tag,
		   const char *text);
/* The image that spec_listed() cut to @raw, or CATALOG_NO_IMAGE; *name is what of it. */
uint32_t tree_cut_image(const struct catalog *cat, const char *raw, const char **name);

/* ---- tree_list.c */

/* Which tags can still tell samples of a place apart: they have more than one value. */
struct axes {
	bool many[SPEC_NR_TAGS];
};
void tree_axes(const struct place *p, struct axes *out);
/* Can tree_list() of a place answer without loading anything, if it is of the newest
 * generation and has nothing to do with symbols? */
bool tree_lists_quickly(const struct ask *a, const struct place *p);
/* In a listed place: the tag that has a real directory there, NULL: none. */
const struct spec_tag *tree_nest(const struct place *p, const struct axes *axes);
/* Where a listed place has a link of that name, its target (heap), else NULL. */
char *tree_link(const struct place *p, const char *name);

/* ---- tree_prefix.c */

/* The next components of an open value. */
int tree_prefix_names(const struct ask *a, const struct place *p, struct names *out);

/* ---- tree_reason.c */

/* -ENOENT, with why a value of a tag selects nothing and what would. */
int tree_no_value(const struct ask *a, const struct place *from,
		  const struct spec_tag *tag, const char *raw);
/* -ENOENT, for a component below @from that is no file of it and goes on with none of the
 * images that its open value could be the beginning of. */
int tree_no_file(const struct ask *a, const struct place *from, const char *name);
/* "NAME, NAME ... (12 more)", the nearest to @typed first. */
void tree_suggest(const struct names *n, const char *typed, struct strbuf *out);

/* ---- tree_text.c */

/* What a report is made of. */
struct tree_job {
	struct report_job job;
	struct options o;
	struct spec *spec;
	struct profile *profile;
	struct strbuf path, base_path;
};
int tree_job_init(struct tree_job *j, const struct ask *a, const struct place *p);
void tree_job_fini(struct tree_job *j);
/* When what a report made of it is to be made anew: see opfs/until.h. */
int64_t tree_until(const struct tree_job *j, const struct report *r);
/* What is made for the cache, by cache_get(). */
struct tree_making {
	struct tree *t;
	const struct place *p;
};
/* Names what a place of a report shows: equal selections give equal texts. */
void tree_text_key(const struct place *p, const struct viewer *v, struct strbuf *key);

/* ---- tree_entries.c */

int tree_step_entries(const struct ask *a, const struct place *from, const char *name,
		      struct place *to);
/* -ENOENT if a directory in a report is not there (any more). */
int tree_has_entry(const struct ask *a, const struct place *p);
bool tree_entries_known(const struct ask *a, const struct place *p);
int tree_list_entries(const struct ask *a, const struct place *p,
		      int (*emit)(void *ctx, const struct tree_entry *e), void *ctx);

/* ---- tree_events.c */

int tree_enter_events(const struct ask *a, struct place *to);
int tree_step_events(const struct ask *a, const struct place *from, const char *name,
		     struct place *to);
int tree_list_events(const struct place *p,
		     int (*emit)(void *ctx, const struct tree_entry *e), void *ctx);
int tree_events_text(const struct place *p, struct text **out, struct err *err);

/* ---- tree_status.c */

int tree_root_text(struct tree *t, const char *name, const struct viewer *v,
		   struct strbuf *out, struct err *err);
/* The sessions there are for @v, "current" among them. */
int tree_sessions(const struct tree *t, const struct viewer *v, struct names *out,
		  struct err *err);

#endif
