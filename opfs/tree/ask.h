/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_ASK_H
#define OPFS_TREE_ASK_H

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/cache.h"
#include "libsym/server/cache.h"
#include "libsym/server/server.h"
#include "opfs/session/catalog_store.h"
#include "opfs/session/spans.h"
#include "opfs/tree/others.h"
#include "opfs/tree/place.h"
#include "opfs/tree/reasons.h"
#include "opfs/tree/resolve.h"
#include "opfs/tree/tree.h"

/* What the modules of the tree share: the tree, and a question to it. */

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
	atomic_ullong nr_made; /* texts */
};

/* A question to the tree, and who asks it. */
struct ask {
	struct tree *t;
	const struct viewer *v;
	bool probe; /* a name tried everywhere: its symbolic links are not looked at */
	bool empty; /* a side of diff: may have none of the functions of a call tree */
	struct err *err;
	/* Writes to @err why a value of a tag selects nothing; NULL: not wanted. */
	int (*explain)(const struct ask *a, const struct place *from,
		       const struct spec_tag *tag, const char *raw);
};

/* Receives the entries of a directory. */
struct lister {
	int (*emit)(void *ctx, const struct tree_entry *e); /* 0, or what ends the list */
	void *ctx;
};

static inline int lister_add(struct lister *l, const char *name, enum place_kind kind)
{
	return l->emit(l->ctx, &(struct tree_entry){ name, kind });
}

/* NULL: no file is called so. */
static inline const struct report *tree_report(const struct ask *a, const char *name)
{
	return report_find(a->t->o.reports, name);
}

/* Is there a place of what a specification selects? */
static inline bool ask_selects(const struct ask *a, const struct selection *sel)
{
	return sel->nr && (!sel->empty || a->empty);
}

static inline int ask_no_memory(const struct ask *a)
{
	return err_set(a->err, -ENOMEM, "out of memory");
}

/* An object of the tree's cache, or made now.  -EAGAIN: it is not there, and the viewer
 * is quick. */
static inline int ask_cached(const struct ask *a, const struct cache_kind *kind,
			     const struct strbuf *key, cache_make make, void *ctx,
			     void **out)
{
	if (strbuf_error(key))
		return ask_no_memory(a);
	*out = cache_peek(a->t->cache, kind, key->data, key->len);
	if (*out)
		return 0;
	if (viewer_quick(a->v))
		return -EAGAIN;
	return cache_get(a->t->cache, kind, key->data, key->len, make, ctx, a->v, out,
			 a->err);
}

/* The same question, without a message if the answer is no. */
static inline struct ask ask_quietly(const struct ask *a, struct err *ignored)
{
	struct ask quietly = *a;

	quietly.err = ignored;
	quietly.explain = NULL;
	return quietly;
}

#endif
