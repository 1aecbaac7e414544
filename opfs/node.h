/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_NODE_H
#define OPFS_NODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "opfs/tree.h"

/*
 * What the kernel knows of the tree: one node an inode number that it may still use.
 * A directory keeps its node across generations; another content of a file is another
 * node.  Nodes die when the kernel forgets them, when nobody uses them and when they
 * have no children left.
 *
 * One lock, the table's, guards everything mutable here; it is never held while a
 * function outside this module and base/ is called but text_get(), text_put() and
 * place_fini().
 */

/* A place that several may use: immutable, by reference count. */
struct node_place {
	int refs; /* atomic */
	struct place p;
};
/* Takes over @p, also on failure.  NULL: out of memory. */
struct node_place *node_place_new(struct place *p);
struct node_place *node_place_get(struct node_place *np);
void node_place_put(struct node_place *np);
/* CLEANUP(node_place_fini) struct node_place *np = NULL; */
static inline void node_place_fini(struct node_place **np)
{
	node_place_put(*np);
}

struct node_attr {
	uint64_t ino; /* st_ino: the same for the same name and content */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint64_t size;     /* bytes; a directory: samples */
	bool sized;        /* @size is known; of a file only once its text was made */
	uint64_t mtime_ns; /* CLOCK_REALTIME */
};

struct node {
	uint64_t id;
	/* fixed from birth */
	struct node *parent; /* reference; the root has none */
	char *name;          /* NUL-terminated */
	size_t name_len;
	uint64_t viewers; /* who may use it: 0 all; see struct node_name */
	bool keep_text;   /* its text cannot be made a second time: never dropped */
	/* guarded */
	int refs; /* users and children, and 1 while nlookup is not 0 */
	uint64_t nlookup;
	bool named;               /* a lookup of its name gives this node */
	struct node_place *place; /* where it is in the tree; see node_where() */
	unsigned epoch;           /* when @place was last found to be the newest */
	struct node_attr attr;
	uint64_t digest;            /* of a file's text, if attr.sized */
	struct text *text;          /* of a file, or NULL: not made yet, or dropped */
	struct node *newer, *older; /* of those that hold a text */
};

struct node_table {
	pthread_mutex_t lock;
	uint64_t last_id;
	struct map_u64 by_id;
	struct map by_name; /* parent id, viewers, name */
	struct node *root;
	struct node *newest, *oldest;
	size_t text_bytes, max_text_bytes;
};

/**
 * node_table_init - a table that holds the root, whose id is 1
 * @root: taken over
 * @max_text_bytes: texts of files kept for the next open; more are dropped, oldest first
 */
int node_table_init(struct node_table *t, struct place *root,
		    const struct node_attr *attr, size_t max_text_bytes, struct err *err);
/* Frees every node, whatever the kernel still knows. */
void node_table_fini(struct node_table *t);

/* The node with an id, referenced, or NULL. */
struct node *node_get(struct node_table *t, uint64_t id);
void node_put(struct node_table *t, struct node *n);

struct node_name {
	const char *name;
	size_t len;
	uint64_t viewers; /* 0, or what tells users apart who see something else there */
};

/* What a lookup found. */
struct node_found {
	struct place place; /* taken over */
	struct node_attr attr;
	struct text *text; /* of a file, if it is there already; borrowed */
	uint64_t digest;   /* of @text */
	unsigned epoch;
	bool keep_text;
};

/**
 * node_enter - the node for what a lookup found; the kernel knows it once more
 * A file of the same generation as that of the node of this name (and of the same text,
 * as far as known), and any directory and link, keep the node.
 * Returns 0, @id and the node's attributes, or -ENOMEM.
 */
int node_enter(struct node_table *t, struct node *parent, const struct node_name *name,
	       struct node_found *found, uint64_t *id, struct node_attr *attr);
/* The kernel knows a node once more. */
void node_again(struct node_table *t, struct node *n);
/* Takes back @n lookups of a node. */
void node_forget(struct node_table *t, uint64_t id, uint64_t n);

/* Where a node is, referenced, and the epoch in which that was found.  NULL: a file of a
 * live session whose text was dropped: what it showed cannot be made again. */
struct node_place *node_where(struct node_table *t, struct node *n, unsigned *epoch);
/* A directory has moved to another generation.  @place (taken over) or NULL: it has not,
 * this was only found once more. */
void node_moved(struct node_table *t, struct node *n, struct node_place *place,
		const struct node_attr *attr, unsigned epoch);
struct node_attr node_attr_of(struct node_table *t, struct node *n);

/* The text of a file, referenced, or NULL: it was dropped. */
struct text *node_text(struct node_table *t, struct node *n);
/**
 * node_set_text - a file's text was made
 * Its size is known from now on, and the text kept for the next one who asks.
 * Returns 0, or -ESTALE if it is another than before: the next lookup gives another node.
 */
int node_set_text(struct node_table *t, struct node *n, struct text *text,
		  uint64_t digest);

/* Visits a node's children; the lock is not held then.  @visit returns non-zero to end
 * it.  @where may be NULL, see node_where(). */
int node_children(struct node_table *t, struct node *parent,
		  int (*visit)(void *ctx, struct node *n, const struct node_place *where),
		  void *ctx);
/* The next lookup of its name gives another node, even for a directory. */
void node_unname(struct node_table *t, struct node *n);
size_t node_count(struct node_table *t);

#endif
