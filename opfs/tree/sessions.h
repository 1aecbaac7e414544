/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_SESSIONS_H
#define OPFS_TREE_SESSIONS_H

#include "base/names.h"
#include "opfs/tree/ask.h"

/* Which sessions the beginning of a path means, by name or by time, and entering them. */

/* The sessions there are for @v, "current" among them. */
int tree_sessions(const struct tree *t, const struct viewer *v, struct names *out,
		  struct err *err);
/* The one of a name as typed or as listed, heap; NULL: there is none. */
char *tree_one_session(const struct tree *t, const char *raw, const struct viewer *v);
/* -ENOENT, with a message that names those there are. */
int tree_no_session(const struct ask *a, const char *typed);
/* The place of a sum of sessions. */
int tree_enter_sessions(const struct ask *a, char *const *names, size_t nr,
			struct place *to);
/* As tree_enter_sessions(), with the other tags of @spec.  @dir: NULL, or another
 * session directory.  Refuses an empty selection unless only sessions were asked for. */
int tree_enter_in(const struct ask *a, const char *dir, const struct spec *spec,
		  struct place *to);
/* The sessions that session:RAW, session-exclude:RAW or diff:RAW means. */
int tree_session_list(const struct ask *a, const char *raw, struct names *out);
/* session:VALUE and session-exclude:VALUE. */
int tree_session_value(const struct ask *a, const char *raw, struct place *to);
int tree_session_exclude(const struct ask *a, const struct place *from, const char *raw,
			 struct place *to);

/* What the root has besides sessions, in the order in which it is listed. */
struct root_entry {
	const char *name;
	enum place_kind kind;
};
enum { TREE_ROOT_ENTRIES = 3 };
extern const struct root_entry tree_root_entries[TREE_ROOT_ENTRIES];
/* The one of that name, or NULL. */
const struct root_entry *tree_root_entry(const char *name);
/* The listed name of a session: if the root has an entry of its name, escaped. */
void tree_listed_session(const char *name, struct strbuf *out);
/* All sessions that the viewer may see, so named. */
int tree_listed_sessions(const struct ask *a, struct names *out);

/* time:VALUE and last:VALUE, at the root. */
int tree_span_value(const struct ask *a, const struct spec_tag *tag, const char *raw,
		    struct place *to);
/* @spec, which has a span, with the sessions that it means now. */
int tree_span_now(const struct ask *a, const struct spec *spec, struct spec **out);
/* tree_enter_in() of these sessions, all as of one moment. */
int tree_span_enter(const struct ask *a, const struct spec *spec, struct place *to);

/* Values worth listing. */
int tree_span_names(const struct ask *a, const struct spec_tag *tag, struct names *out);

#endif
