/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_EXCHANGE_H
#define LIBSYM_EXCHANGE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/strbuf.h"
#include "libsym/request.h"

/* What came back over a job's socket. */
struct sym_exchange {
	char *data; /* heap, aligned; frame, answer, trailer, as far as they came */
	size_t len, cap;
	struct sym_trailer trailer; /* magic 0: none came, the helper itself has gone */
	const char *answer;         /* in data; NULL if incomplete */
	size_t answer_len;
};

void sym_exchange_fini(struct sym_exchange *x);

/**
 * sym_exchange_run - sends a request and collects what comes back until the end
 * @fd: our end of the job's socket
 * @patience_ms: more than the job's deadline, which is for others to enforce
 * Returns 0; -EINTR if cancelled; -ETIMEDOUT; -EBADMSG if too much came; -ENOMEM.
 */
int sym_exchange_run(struct sym_exchange *x, int fd, const struct strbuf *request,
		     unsigned patience_ms, const atomic_bool *cancel);

#endif
