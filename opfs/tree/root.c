/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/tree/root.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "opfs/tree/events.h"
#include "opfs/tree/reason.h"
#include "opfs/tree/sessions.h"
#include "opfs/tree/step.h"

/* A tag without a session means "current". */
static int step_tag(const struct ask *a, const char *name, const struct spec_word *word,
		    struct place *to)
{
	char *names[] = { (char *)"current" };
	struct place current;
	int rc;

	if (word->tag->id == SPEC_SESSION && word->value)
		return tree_session_value(a, word->value, to);
	if (word->tag->kind == SPEC_TAG_SPAN && word->value)
		return tree_span_value(a, word->tag, word->value, to);
	rc = tree_enter_sessions(a, names, 1, &current);
	if (rc)
		return rc;
	current.listed = false; /* its links are not here */
	if (word->tag->id == SPEC_SESSION || word->tag->kind == SPEC_TAG_SPAN)
		rc = place_init(to, PLACE_VALUES, current.cat, current.spec, current.sel,
				word->tag, NULL, a->err);
	else
		rc = tree_step_profile(a, &current, name, to);
	place_fini(&current);
	return rc;
}

int tree_step_root(const struct ask *a, const struct place *from, const char *name,
		   struct place *to)
{
	const struct root_entry *entry = tree_root_entry(name);
	CLEANUP(free_ptr) char *session = NULL;
	struct spec_word word;

	(void)from;
	if (entry && entry->kind == PLACE_EVENTS)
		return tree_enter_events(a, to);
	if (entry) {
		*to = (struct place){ .kind = entry->kind, .file = entry->name };
		return 0;
	}
	session = tree_one_session(a->t, name, a->v);
	if (session)
		return tree_enter_sessions(a, &session, 1, to);
	if (spec_word_parse(name, strlen(name), &word))
		return step_tag(a, name, &word, to);
	return tree_no_word(a, name);
}

int tree_list_root(const struct ask *a, const struct place *p, struct lister *l)
{
	CLEANUP(names_fini) struct names sessions = { 0 };
	int rc = tree_listed_sessions(a, &sessions);

	(void)p;
	for (size_t i = 0; i < TREE_ROOT_ENTRIES && !rc; i++)
		rc = lister_add(l, tree_root_entries[i].name, tree_root_entries[i].kind);
	for (size_t i = 0; i < sessions.len && !rc; i++)
		rc = lister_add(l, sessions.data[i], PLACE_PROFILE);
	return rc;
}
