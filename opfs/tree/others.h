/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_OTHERS_H
#define OPFS_TREE_OTHERS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>

#include "libspec/spec/spec.h"
#include "opfs/session/catalog_store.h"

/* Session directories besides the tree's own, which diff: names by their paths. */
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

struct ask;
struct names;

void tree_others_init(struct others *o);
void tree_others_fini(struct others *o);
/* The newest catalog of sessions of @dir; NULL: of the tree's session directory.
 * -EAGAIN if the viewer is quick and it would have to be read. */
int tree_catalog(const struct ask *a, const char *dir, const struct spec *spec,
		 struct catalog **out);
/* The session directory and the session that an absolute path means: "current" of it or
 * its only one, or the one whose directory it is. */
int tree_find_session(const struct ask *a, const char *path, char **dir,
		      struct names *out);

#endif
