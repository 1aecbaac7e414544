/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_HANDLE_H
#define OPFS_MOUNT_HANDLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/arena.h"
#include "base/vec.h"
#include "opfs/mount/node.h"

/*
 * Open files and directories.  A file's handle holds its text, a directory's the list of
 * its names, made when they are first asked for: one open sees one snapshot.  The table
 * knows all handles, since the kernel closes none when the mount ends.
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
/**
 * dir_list_new - the names of a directory, "." and ".." first; @ino is not set
 * A name that no kernel accepts (empty, with a slash, over 1,024 bytes) is left out with
 * a message, since the kernel would end the listing there.
 */
int dir_list_new(struct tree *t, const struct place *p, const struct viewer *v,
		 struct dir_list **out, struct err *err);

struct handle {
	LIST_ENTRY(handle) link;
	int refs;              /* one while it is open, one of each job that needs it */
	struct text *text;     /* of a file; reference */
	struct node *node;     /* of a directory; reference */
	struct dir_list *list; /* of a directory: set once, then immutable */
};

/* The lock, a leaf, guards the links, @refs and @list. */
struct handle_table {
	pthread_mutex_t lock;
	struct node_table *nodes;
	LIST_HEAD(, handle) all;
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
/* Takes over @list; dropped if there is one already. */
void handle_set_list(struct handle_table *t, struct handle *h, struct dir_list *list);

#endif
