/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_TREE_EVENTS_H
#define OPFS_TREE_EVENTS_H

#include "opfs/tree/ask.h"

int tree_enter_events(const struct ask *a, struct place *to);
int tree_step_events(const struct ask *a, const struct place *from, const char *name,
		     struct place *to);
int tree_list_events(const struct ask *a, const struct place *p, struct lister *l);
int tree_events_text(const struct ask *a, const struct place *p, struct text **out);

#endif
