/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_HANDLE_H
#define OPFS_MOUNT_HANDLE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/share.h"
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
	uid_t uid;             /* who opened it */
	struct node *node;     /* reference */
	struct text *text;     /* of a file; reference */
	struct dir_list *list; /* of a directory: set once, then immutable */
};

/*
 * What is open takes memory, disk or descriptors, which nobody can take back.  So users
 * have shares (base/share.h) of how many may be open, and of the bytes that these hold: a
 * text counts once however often it is open.
 *
 * The lock guards the links, @refs, @list and all below.
 */
struct handle_table {
	pthread_mutex_t lock;
	struct node_table *nodes;
	LIST_HEAD(, handle) all;
	struct share open, held;
	struct map_u64 texts; /* how many handles each has, by address */
};
/* @held: bytes that open files and listings may hold. */
void handle_table_init(struct handle_table *t, struct node_table *nodes, uint64_t held,
		       bool fair);
/* Closes whatever is open. */
void handle_table_fini(struct handle_table *t);

/**
 * handle_new - opens
 * @node: reference, taken over unless it fails
 * @text: of a file, reference, taken over unless it fails; NULL: a directory
 * Returns 0; -ENFILE: @uid has his share already; -ENOMEM.
 */
int handle_new(struct handle_table *t, struct node *node, struct text *text, uid_t uid,
	       struct handle **out);
/* The text that a file was opened with and that is still good, referenced, or NULL. */
struct text *handle_text(struct handle_table *t, const struct node *n);
struct handle *handle_get(struct handle_table *t, struct handle *h);
void handle_put(struct handle_table *t, struct handle *h);

/* NULL: no list yet. */
const struct dir_list *handle_list(struct handle_table *t, struct handle *h);
/* Takes over @list; dropped if there is one already.  0, -ENFILE or -ENOMEM as above. */
int handle_set_list(struct handle_table *t, struct handle *h, struct dir_list *list);

#endif
