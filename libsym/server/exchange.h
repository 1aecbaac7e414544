/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_EXCHANGE_H
#define LIBSYM_SERVER_EXCHANGE_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/box/box.h"
#include "base/strbuf.h"
#include "libsym/wire/request.h"

/* What arrived on a job's socket. */
struct sym_exchange {
	char *data; /* heap, aligned; frame, answer and trailer, as far as they arrived */
	size_t len, cap;
	struct box_trailer trailer; /* magic 0: none arrived, the box itself died */
	const char *answer;         /* in data; NULL if incomplete */
	size_t answer_len;
	/* what it was made from, behind it, as libsym/file/seen.h has it; NULL: that
	 * cannot be told */
	const void *seen;
	size_t seen_len;
	int fd; /* a descriptor that came along; -1: none */
};

#define SYM_EXCHANGE_NONE                                                                \
	{                                                                                \
		.fd = -1                                                                 \
	}

void sym_exchange_fini(struct sym_exchange *x);

/**
 * sym_exchange_run - sends a request and collects the reply until its end
 * @fd: our end of the job's socket
 * The end always comes: the box ends a job that is blocked, and the limit on processor
 * time ends a busy one.  Returns 0; -EINTR if cancelled; -EBADMSG if too much arrived;
 * -ENOMEM.
 */
int sym_exchange_run(struct sym_exchange *x, int fd, const struct strbuf *request,
		     const atomic_bool *cancel);

#endif
