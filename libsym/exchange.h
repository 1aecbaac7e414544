/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_EXCHANGE_H
#define LIBSYM_EXCHANGE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/box/box.h"
#include "base/strbuf.h"
#include "libsym/request.h"

/* What came back over a job's socket. */
struct sym_exchange {
	char *data; /* heap, aligned; frame, answer, trailer, as far as they came */
	size_t len, cap;
	struct box_trailer trailer; /* magic 0: none came, the box itself has gone */
	const char *answer;         /* in data; NULL if incomplete */
	size_t answer_len;
};

void sym_exchange_fini(struct sym_exchange *x);

/**
 * sym_exchange_run - sends a request and collects what comes back until the end
 * @fd: our end of the job's socket
 * That comes: the box ends a job that is blocked, or processor time a busy one.
 * Returns 0; -EINTR if cancelled; -EBADMSG if too much came; -ENOMEM.
 */
int sym_exchange_run(struct sym_exchange *x, int fd, const struct strbuf *request,
		     const atomic_bool *cancel);

#endif
