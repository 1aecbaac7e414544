/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef COLLECTOR_WHO_HELPER_H
#define COLLECTOR_WHO_HELPER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/box/box.h"
#include "base/box/state.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "collector/who/answer.h"

enum { COLL_HELPER_ASKED = 32 }; /* questions that one has at a time, at most */

/* A process that answers questions, from the outside.  Nothing here waits for it. */
struct coll_helper {
	int fd;       /* -1: none */
	uint32_t pid; /* 0: it has not begun yet */
	struct box_state state;
	struct strbuf out, in; /* questions on their way; answers, as far as they came */
	size_t sent, taken;    /* bytes of them that are done with */
	VEC(int) files;        /* that came with answers, in their order */
	bool bad;              /* it sent what no helper sends: end it */
	bool ended;            /* the box has told how it ended: */
	int32_t status;        /* as waitpid() */
};

#define COLL_HELPER_NONE                                                                 \
	{                                                                                \
		.fd = -1                                                                 \
	}

/* Has @box, of @kind, fork one; starts the box if there is none, or not any more.  0 or
 * -errno. */
int coll_helper_start(struct coll_helper *h, struct box *box, const struct box_kind *kind,
		      const char *program, struct err *err);
/* Ends it, whatever it is doing, and forgets it. */
void coll_helper_end(struct coll_helper *h);

/* Adds a question to those on their way.  0 or -ENOMEM. */
int coll_helper_put(struct coll_helper *h, enum coll_question_kind kind, const void *data,
		    size_t len);
/* Sends and receives what can be, of answers about the largest one at a time.  0; -EPIPE
 * if it has gone, -ENOMEM, -EBADMSG: end it. */
int coll_helper_exchange(struct coll_helper *h);
/* The next whole answer; borrowed until the next call of any of these.  @file: what came
 * with it, the caller's, or -1.  False: none, maybe because it is @bad. */
bool coll_helper_next(struct coll_helper *h, char **answer, size_t *len, int *file);

/* It died, or gave up, of what it was asked: it was not killed by somebody. */
bool coll_helper_died_of_it(const struct coll_helper *h);

static inline bool coll_helper_sends(const struct coll_helper *h)
{
	return h->sent < h->out.len;
}

#endif
