/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_RUN_H
#define LIBSYM_SERVER_RUN_H

#include <stdatomic.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "libsym/job.h"
#include "libsym/server.h"

/* Decodes what a helper answered.  0; -EBADMSG if it makes no sense; -ENOMEM. */
typedef int sym_take_answer(void *arg, const void *data, size_t len, struct err *err);

/**
 * sym_server_run - one job of any kind
 * @request: frame included, see libsym/request.h
 * @take: is given the answer, if there is one; its bytes are aligned to 8
 * @why: the helper's end in words ("needs more than 10 s of processor time"), if there is none
 * Returns 0 if the answer was taken, 1 if there is none and @why tells the reason;
 * -EINVAL if the helper refused; -EINTR if cancelled; -ENOMEM; another errno if helpers
 * cannot be started.
 */
int sym_server_run(struct sym_server *s, const struct strbuf *request,
		   sym_take_answer *take, void *arg, const atomic_bool *cancel,
		   struct strbuf *why, struct err *err);

/* What messages call the image of a job. */
const char *sym_job_name(const struct sym_job *job);

#endif
