/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_OPFS_PLACES_H
#define TESTS_UNIT_OPFS_PLACES_H

#include "opfs/tree/tree.h"
#include "tests/unit/opfs/sessions.h"

/* Places in the tree of a session directory made by hand. */
extern struct sessions disk;
extern struct tree *tree;
extern const struct viewer owner; /* user 0 */

void places_init(void); /* no tree yet */
void places_fini(void);
void open_tree(bool shared);

struct place walk(const char *path);
uint64_t samples(const char *path);
/* What tree_walk() returns. */
int fails(const char *path, const struct viewer *v, struct err *err);
/* What tree_text() returns for a file that exists. */
int text_of(const char *path, const struct viewer *v, struct err *err);
/* The root's status; heap. */
char *status_of(const struct viewer *v);

struct found {
	char *data[2000];
	enum place_kind kind[2000];
	size_t nr;
};
int keep(void *ctx, const struct tree_entry *e); /* for tree_list(): to a struct found */
void found_fini(struct found *f);
/* Files that a directory lists if no tag contradicts them: not the slow ones, and without
 * calls. */
size_t nr_listed(void);
bool lists(const char *path, const char *name);

#endif
