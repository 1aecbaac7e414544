/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_HANDLE_H
#define OPFS_HANDLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "opfs/node.h"

/*
 * What is open.  A file's handle holds its text, a directory's the list of its names as
 * it was when they were first asked for: one open sees one snapshot.  The table knows
 * them all, since the kernel does not close what is open when a mount is ended.
 */
struct dir_entry {
	const char *name;
	enum place_kind kind;
	uint64_t ino;
};

struct dir_list {
	struct arena arena;
	VEC(struct dir_entry) entries;
};
void dir_list_free(struct dir_list *l);
/**
 * dir_list_new - the names of a directory, "." and ".." first; numbers are not set
 * A name that no kernel takes (empty, with a slash, over 1,024 bytes) is left out with
 * a message, since it would cut the listing short.
 */
int dir_list_new(struct tree *t, const struct place *p, const struct viewer *v,
		 struct dir_list **out, struct err *err);

struct handle {
	struct handle *next, *prev;
	int refs;              /* one of who opened it, one of a job that works for it */
	struct text *text;     /* of a file; reference */
	struct node *node;     /* of a directory; reference */
	struct dir_list *list; /* of a directory: set once, then immutable */
};

/* One lock, a leaf but for the node table's, guards the links, @refs and @list. */
struct handle_table {
	pthread_mutex_t lock;
	struct node_table *nodes;
	struct handle *first;
};
void handle_table_init(struct handle_table *t, struct node_table *nodes);
/* Closes whatever is open. */
void handle_table_fini(struct handle_table *t);

/* Takes over the reference to @text or to @n, unless it fails: NULL, out of memory. */
struct handle *handle_new_file(struct handle_table *t, struct text *text);
struct handle *handle_new_dir(struct handle_table *t, struct node *n);
struct handle *handle_get(struct handle_table *t, struct handle *h);
void handle_put(struct handle_table *t, struct handle *h);

/* NULL: no list yet. */
const struct dir_list *handle_list(struct handle_table *t, struct handle *h);
/* Takes over @list; if there is one already that one stays. */
void handle_set_list(struct handle_table *t, struct handle *h, struct dir_list *list);

#endif
