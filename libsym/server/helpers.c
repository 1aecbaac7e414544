/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/helpers.h"

#include <errno.h>
#include <stdlib.h>

#include "libsym/helper/helper.h"

int sym_helpers_init(struct sym_helpers *hs, size_t nr, const char *program)
{
	*hs = (struct sym_helpers){ .nr = nr, .program = program };
	hs->all = calloc(nr, sizeof(*hs->all));
	if (!hs->all)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		hs->all[i].box = (struct box)BOX_NONE;
	return 0;
}

void sym_helpers_fini(struct sym_helpers *hs)
{
	for (size_t i = 0; hs->all && i < hs->nr; i++)
		box_end(&hs->all[i].box);
	free(hs->all);
	hs->all = NULL;
}

static struct sym_helper *find(struct sym_helpers *hs, uid_t uid)
{
	struct sym_helper *idle = NULL;

	for (struct sym_helper *h = hs->all; h < hs->all + hs->nr; h++) {
		if (h->used && h->uid == uid)
			return h;
		if (!h->jobs && (!idle || h->used < idle->used))
			idle = h;
	}
	box_end(&idle->box);
	idle->uid = uid;
	return idle;
}

struct sym_helper *sym_helpers_take(struct sym_helpers *hs, uid_t uid)
{
	struct sym_helper *h = find(hs, uid);

	h->jobs++;
	h->used = ++hs->used;
	return h;
}

void sym_helpers_give(struct sym_helper *h)
{
	h->jobs--;
}

int sym_helpers_job(struct sym_helpers *hs, struct sym_helper *h, int fd,
		    const struct box_limits *limits, unsigned *which, struct err *err)
{
	int rc = -EPIPE;

	for (int attempt = 0; attempt < 2 && rc; attempt++) {
		if (h->box.control < 0) {
			rc = box_start(&sym_helper_box, hs->program, &h->box, err);
			if (rc)
				break;
			h->started++;
		}
		rc = box_job(&h->box, fd, limits);
		if (rc) {
			box_end(&h->box);
			err_errno(err, rc, "symbol helper");
		}
	}
	*which = h->started;
	return rc;
}

void sym_helpers_forget(struct sym_helper *h, unsigned which)
{
	if (h->started == which)
		box_end(&h->box);
}
