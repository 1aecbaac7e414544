/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_IMPL_H
#define OPFS_TREE_IMPL_H

#include "libsym/cache.h"
#include "libsym/server.h"
#include "opfs/cache.h"
#include "opfs/profile.h"
#include "opfs/reasons.h"
#include "opfs/resolve.h"
#include "opfs/tree.h"

/*
 * What the files tree_*.c share.
 *	tree.c         places, walking, what front ends ask about a place
 *	tree_root.c    components at the root: sessions
 *	tree_step.c    components below: files, links, tags
 *	tree_value.c   values of tags, which may span components
 *	tree_reason.c  what to tell when something selects nothing
 *	tree_select.c  from a specification to sample files
 *	tree_symbol.c  profiles, and the symbols in them
 *	tree_names.c   how values are listed
 *	tree_list.c    directories
 *	tree_text.c    files
 *	tree_status.c  README and status of the root
 */
struct tree {
	struct tree_options o; /* its strings are the tree's own */
	struct catalog_store *store;
	struct sym_server *server;
	struct sym_cache *syms;
	struct cache *cache;
	struct reasons *reasons;
	struct resolver *resolver;
};

/* Somebody asks something of the tree. */
struct ask {
	struct tree *t;
	const struct viewer *v;
	bool quick; /* -EAGAIN instead of anything that may take time */
	bool probe; /* a name tried everywhere: its symbolic links are not looked at */
	struct err *err;
};

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
/* What values are matched with in a catalog.  @ctx must live as long as @out. */
struct select_ctx {
	const struct ask *a;
	const struct catalog *cat;
};
void tree_match_init(struct spec_match *out, struct select_ctx *ctx);

/* ---- tree_symbol.c */

extern const struct cache_kind tree_profile_kind;

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

/* ---- tree_value.c */

/**
 * tree_value - the place that a tag's value makes of another
 * @from: its specification (but for a value of the same tag) is refined
 * @raw: the value as typed so far
 */
int tree_value(const struct ask *a, const struct place *from, const struct spec_tag *tag,
	       const char *raw, struct place *to);
/* One component more of the value that is open in @from. */
int tree_value_join(const struct ask *a, const struct place *from, const char *name,
		    struct place *to);
/* A place of a specification; takes references.  Refuses an empty selection only where
 * sessions are not all that was asked for. */
int tree_place_init(struct place *to, enum place_kind kind, struct catalog *cat,
		    struct spec *spec, struct selection *sel, const struct spec_tag *tag,
		    const char *value, struct err *err);

/* ---- tree_root.c */

int tree_step_root(const struct ask *a, const char *name, struct place *to);
/* The place of a sum of sessions.  @listed: by its exact name at the root. */
int tree_enter_sessions(const struct ask *a, char *const *names, size_t nr, bool listed,
			struct place *to);
/* As tree_enter_sessions(), with the other tags of @spec. */
int tree_enter_spec(const struct ask *a, const struct spec *spec, struct place *to);
/* session:VALUE and session-exclude:VALUE. */
int tree_session_value(const struct ask *a, const char *raw, struct place *to);
int tree_session_exclude(const struct ask *a, const struct place *from, const char *raw,
			 struct place *to);
/* Names of the root that no session can have; listed with their first byte escaped. */
bool tree_is_reserved(const char *name);
void tree_listed_session(const char *name, struct strbuf *out);
/* May @v see the session?  Yes, unless the mount is shared and its modes say no. */
bool tree_may_see(const struct tree *t, const char *session, const struct viewer *v);

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
/* The image that spec_listed() cut to @raw, or CATALOG_NO_IMAGE; *name is what of it. */
uint32_t tree_cut_image(const struct catalog *cat, const char *raw, const char **name);
/* How a symbol is listed: @ambiguous if another one reads the same. */
void tree_listed_symbol(const struct profile_row *row, bool ambiguous,
			struct strbuf *out);

/* ---- tree_list.c */

/* Which tags can still tell samples of a place apart: they have more than one value. */
struct axes {
	bool many[SPEC_NR_TAGS];
};
void tree_axes(const struct place *p, struct axes *out);
/* In a listed place: the tag that has a real directory there, NULL: none. */
const struct spec_tag *tree_nest(const struct place *p, const struct axes *axes);
/* Where a listed place has a link of that name, its target (heap), else NULL. */
char *tree_link(const struct place *p, const char *name);
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

/* ---- tree_status.c */

int tree_root_text(struct tree *t, const char *name, const struct viewer *v,
		   struct strbuf *out, struct err *err);
/* The sessions there are for @v, "current" among them. */
int tree_sessions(const struct tree *t, const struct viewer *v, struct names *out,
		  struct err *err);

#endif
