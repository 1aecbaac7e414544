/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/words.h"

#include <stdlib.h>
#include <string.h>

struct coll_words *coll_words_new(const char *cmdline, const char *cgroup, uint32_t uid,
				  bool sure)
{
	struct coll_words *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->refs = 1;
	w->sure = sure;
	w->uid = uid;
	w->cmdline = cmdline ? strdup(cmdline) : NULL;
	w->cgroup = cgroup ? strdup(cgroup) : NULL;
	return w;
}

struct coll_words *coll_words_learn(const struct coll_words *old,
				    const struct coll_proc *proc)
{
	const char *cmdline = proc->text[COLL_PROC_CMDLINE];
	const char *cgroup = proc->text[COLL_PROC_CGROUP];

	return coll_words_new(cmdline || !old ? cmdline : old->cmdline,
			      cgroup || !old ? cgroup : old->cgroup,
			      proc->uid != COLL_UID_UNKNOWN || !old ? proc->uid
								    : old->uid,
			      true);
}

struct coll_words *coll_words_get(struct coll_words *w)
{
	if (w)
		w->refs++;
	return w;
}

void coll_words_put(struct coll_words *w)
{
	if (!w || --w->refs)
		return;
	free(w->cmdline);
	free(w->cgroup);
	free(w);
}
