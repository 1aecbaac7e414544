/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_BROWSE_TREE_H
#define OPFS_TREE_BROWSE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/viewer.h"
#include "opfs/profile/profile.h"

/*
 * A call tree as directories: what is below calls:, callers: and through:.  Children of a
 * node have different names.  Immutable, by reference count.
 */
enum browse_kind {
	BROWSE_CALLS,   /* functions below their callers */
	BROWSE_CALLERS, /* functions below what they called */
	BROWSE_THROUGH, /* each function by itself; what is below is a tree of its own */
};

/* What comes after the functions that a value names, as tree_frames_after() finds it. */
struct browse_after {
	const char *value;
	uint8_t *stacks, *skips;
	uint32_t skip; /* how many functions the value has */
};

struct browse_node {
	uint32_t parent, first, next; /* as in struct calltree_node */
	uint32_t name;                /* index into names */
	uint64_t total, self;         /* samples, of all classes */
};

struct browse_tree {
	int refs; /* atomic */
	enum browse_kind kind;
	const struct browse_node *nodes; /* [0]: all */
	const char *value;               /* what [0] is; "" if it is all */
	const char *const *names; /* as sources have them, and as they are listed: */
	const char *const *listed;
	size_t nr_nodes, nr_names;
	struct map by_name; /* parent and listed name -> node */
	struct arena arena;
	size_t bytes; /* what it costs */
};

/**
 * browse_tree_new - the tree of a profile's stacks
 * @p: with stacks; not needed afterwards
 * @after: NULL, or only that
 * @is_ours: does a listed name read as something else in a directory?  Its first byte is
 *	escaped then.
 * Returns 0, -EINTR, -ENOMEM.
 */
int browse_tree_new(const struct profile *p, enum browse_kind kind,
		    const struct browse_after *after,
		    bool (*is_ours)(void *ctx, const char *listed), void *ctx,
		    const struct viewer *v, struct browse_tree **out, struct err *err);
struct browse_tree *browse_tree_get(struct browse_tree *t); /* NULL is fine */
void browse_tree_put(struct browse_tree *t);

/* The child of a node by its listed name, or by the name that @name spells.  0: none. */
uint32_t browse_tree_child(const struct browse_tree *t, uint32_t at, const char *name);
/* Appends the value of the root, if it has one, and the listed names from there to a
 * node, with "/" between them. */
void browse_tree_path(const struct browse_tree *t, uint32_t at, struct strbuf *out);

#endif
