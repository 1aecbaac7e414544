/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_CLI_WHERE_H
#define OPFS_CLI_WHERE_H

#include <sys/types.h>

#include "base/err.h"
#include "base/names.h"
#include "libspec/session/session.h"

/* Where a command looks for sessions: the session directory, and where in its tree. */
struct where {
	enum spec_session_from from;
	char *dir;   /* the session directory */
	char *at;    /* where the current directory is in the tree; NULL: in no mount */
	char *point; /* of the mount that @dir was told by; NULL: by none */
	uid_t user;  /* who made that */
	struct names words; /* operands that became paths of the tree */
};

enum where_words {
	WHERE_PATHS,    /* operands are paths of the tree */
	WHERE_SESSIONS, /* they are names of sessions */
};

/**
 * where_find - chooses the session directory
 * @given: what --session-dir says, or NULL
 * @words: operands.  What leads into a mount of opfs becomes a path of the tree, and the
 *	mount says which session directory it is; so does the current directory, and paths
 *	are then relative to it.  With @given they stay as they are.
 * Returns 0, or a negative errno with the reason: the operands are in several mounts, or
 * a mount does not tell.
 */
int where_find(struct where *w, const char *given, enum where_words kind, char **words,
	       int nr, struct err *err);
/* Says on stderr which directory was chosen, if nobody named it and a terminal or -V
 * shows it. */
void where_tell(const struct where *w, const char *program);
/* What @err, of the session directory, says is made clearer by how it was chosen. */
void where_explain(const struct where *w, struct err *err);
void where_fini(struct where *w);

#endif
