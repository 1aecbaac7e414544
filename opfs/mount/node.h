/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_NODE_H
#define OPFS_MOUNT_NODE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/cache.h"
#include "base/map.h"
#include "base/share.h"
#include "opfs/mount/node_place.h"
#include "opfs/tree/tree.h"

/*
 * What the kernel knows of the tree: a node for each inode number that it may still use.
 * A directory keeps its node across generations; another content of a file is another
 * node.  A node is freed once the kernel forgot it, no request uses it, and it has no
 * children.
 *
 * One lock, the table's, guards everything mutable here.  Outside base/ and this module
 * only text_put() is called while it is held.  The cache's lock is taken inside it.
 */

struct node_attr {
	uint64_t ino; /* st_ino: the same for the same name and content */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint64_t size; /* bytes; a directory: samples */
	uint64_t self; /* a directory in a call tree: samples in the function itself */
	bool sized;    /* @size is known; of a file only once its text was made */
	uint64_t mtime_ns; /* CLOCK_REALTIME */
};

struct node {
	uint64_t id;
	/* immutable */
	struct node *parent; /* reference; the root has none */
	char *name;          /* NUL-terminated */
	size_t name_len;
	unsigned depth;   /* 0: the root */
	uint64_t viewers; /* who may use it; see struct node_name */
	bool keep_text;   /* its text cannot be made again: never dropped */
	uid_t uid;        /* who had it made */
	/* guarded by the table's lock */
	int refs; /* users and children, and 1 while nlookup is not 0 */
	uint64_t nlookup;
	bool named;               /* a lookup of its name gives this node */
	bool later;               /* whether it is there is found out when it is used */
	struct node_place *place; /* where it is in the tree; see node_where() */
	uint64_t generation;      /* of @place, also of one that was dropped */
	bool listed;              /* in the table's list of live places, by @live */
	TAILQ_ENTRY(node) live;
	uint64_t used_ns; /* CLOCK_MONOTONIC; if @listed */
	unsigned epoch;   /* when @place was last found to be the newest */
	struct node_attr attr;
	struct node_attr told; /* as it was when last looked up, or found if promised */
	uint64_t digest;       /* of a file's text, if attr.sized */
	struct text *text;     /* with @keep_text; other texts are in the cache */
};

struct node_table {
	pthread_mutex_t lock;
	uint64_t last_id;
	struct map_u64 by_id;
	struct map by_name; /* parent id, viewers, name */
	struct node *root;
	/* Places in live sessions, the longest unused first.  Each keeps all that was
	 * read of its generation, so they are kept only for @keep_ns after their last
	 * use. */
	TAILQ_HEAD(, node) live;
	uint64_t keep_ns;
	struct cache *cache; /* borrowed: texts by node */
	/* The kernel forgets names when it needs the memory, which may be never. */
	struct share share;
	size_t peak; /* the most nodes since memory was given back */
};

/**
 * node_table_init - a table that holds the root, whose id is 1
 * @root: taken over
 * @cache: borrowed; keeps texts of files for the next open
 * @fair: several users look up: each has a share of the nodes that there may be
 */
int node_table_init(struct node_table *t, struct place *root,
		    const struct node_attr *attr, struct cache *cache, bool fair,
		    struct err *err);
/* Frees every node, even those that the kernel still knows. */
void node_table_fini(struct node_table *t);

/* The node with an id, referenced, or NULL. */
struct node *node_get(struct node_table *t, uint64_t id);
void node_put(struct node_table *t, struct node *n);

struct node_name {
	const char *name;
	size_t len;
	uint64_t viewers; /* 0: all users see the same there; else whose */
	uid_t uid;        /* who asks: whose share of nodes a new one is part of */
};

/* What a lookup found. */
struct node_found {
	struct place place; /* taken over */
	struct node_attr attr;
	bool later;        /* nothing yet: @attr is a directory's, @place is empty */
	bool personal;     /* users may find different things behind the name */
	struct text *text; /* of a file, if it is there already; borrowed */
	uint64_t digest;   /* of @text */
	unsigned epoch;
	bool keep_text;
};

/**
 * node_enter - the node for what a lookup found, with one lookup more
 * The node that has this name stays if it is a directory or link, or a file of the same
 * generation whose text, as far as known, is the same.
 * Returns 0, @id and the node's attributes; -ENFILE: this user has his share;
 * -ENAMETOOLONG: it is too deep; -ENOMEM.
 */
int node_enter(struct node_table *t, struct node *parent, const struct node_name *name,
	       struct node_found *found, uint64_t *id, struct node_attr *attr);
/* Counts a lookup of a node. */
void node_count_lookup(struct node_table *t, struct node *n);
/* The kernel gives back @n lookups of a node. */
void node_forget(struct node_table *t, uint64_t id, uint64_t n);

/*
 * Where a node is, referenced, and the epoch in which that was found.  NULL: nobody has
 * looked yet, or not for ten seconds where a session is live, so that its generation
 * could be freed.  A directory is looked for again, see node_is_later(); a file is gone,
 * since that of the next generation is another one, though its text may still be there.
 */
struct node_place *node_where(struct node_table *t, struct node *n, unsigned *epoch);
/* Is it only promised that this is a directory? */
bool node_is_later(struct node_table *t, struct node *n);
/* A directory was found, or moved to another generation.  Takes over @place; NULL: it was
 * found to be still the same. */
void node_moved(struct node_table *t, struct node *n, struct node_place *place,
		const struct node_attr *attr, unsigned epoch);
struct node_attr node_attr_of(struct node_table *t, struct node *n);
/* The same as they were when its name was last looked up, which is what the kernel
 * remembers; of a promise that was not kept yet the mode is 0. */
struct node_attr node_told(struct node_table *t, struct node *n);

/* The text of a file, referenced, or NULL: it was dropped. */
struct text *node_text(struct node_table *t, struct node *n);
/**
 * node_set_text - a file's text was made
 * Its size is known from now on, and the text kept for the next OPEN.
 * Returns 0, or -ESTALE if the text differs from an earlier one: the next lookup gives
 * another node.
 */
int node_set_text(struct node_table *t, struct node *n, struct text *text,
		  uint64_t digest);

/* Visits a node's children, without the lock.  @visit returns non-zero to stop.  @where
 * may be NULL, see node_where(). */
int node_children(struct node_table *t, struct node *parent,
		  int (*visit)(void *ctx, struct node *n, const struct node_place *where),
		  void *ctx);
/* The next lookup of its name gives another node, even for a directory. */
void node_unname(struct node_table *t, struct node *n);
size_t node_count(struct node_table *t);

#endif
