/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_SERVER_JOBS_H
#define LIBSYM_SERVER_JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/box/box.h"
#include "base/cred.h"
#include "base/err.h"
#include "base/share.h"
#include "base/strbuf.h"
#include "libsym/server/answers.h"
#include "libsym/server/helpers.h"

/*
 * Jobs of helpers, whatever they are about: a request goes out, and an answer comes back,
 * or one is known that was given before.
 */

struct sym_server_options;

struct sym_jobs {
	pthread_mutex_t lock; /* over all below */
	pthread_cond_t room;  /* a job ended */
	struct share running;
	struct sym_helpers helpers;
	struct box_limits limits; /* constant, as all below but the answers */
	char *program;            /* NULL: /proc/self/exe */
	bool remembers;
	struct sym_answers answers;
};

/* 0 or -ENOMEM. */
int sym_jobs_init(struct sym_jobs *s, const struct sym_server_options *o);
void sym_jobs_fini(struct sym_jobs *s);

/* How an answer is kept, if not as it came. */
struct sym_kept_form {
	/* Takes what was kept, and may take over its mapping.  As sym_take_answer. */
	int (*take)(void *arg, struct sym_kept_answer *k, struct err *err);
	/* What to keep of what was just taken. */
	void (*give)(void *arg, const void **data, size_t *len);
};

/* Decodes a helper's answer.  0; -EBADMSG if it makes no sense; -ENOMEM. */
typedef int sym_take_answer(void *arg, const void *data, size_t len, struct err *err);

/* One job of any kind. */
struct sym_call {
	const struct strbuf *request; /* frame included, see libsym/wire/request.h */
	const struct cred *who;       /* whose job it is; NULL: this process's */
	uint32_t waits_ms;            /* as in struct box_limits */
	sym_take_answer
		*take; /* is given the answer, if there is one, aligned to 8 bytes */
	void *arg;
	const atomic_bool *cancel;
	int *fd;    /* a descriptor that comes along; NULL: none is wanted */
	bool again; /* the answer may be one of an earlier run, */
	const struct sym_kept_form *form; /* in this form; NULL: as it came */
	/* A file that tells the answer as well, if not even an earlier run did; "": none
	 * does. */
	const char *file;
	const char *about;           /* the file that it is about; NULL: none */
	int (*take_file)(void *arg); /* 0; 1: it does not tell it; -ENOMEM */
};

/**
 * sym_jobs_run - one job
 * @why: the end of the helper in words ("needs more than 10 s of processor time"), if
 *	there is no answer
 * Returns 0 if the answer was taken, 1 if there is none and @why tells the reason;
 * -EINVAL if the helper refused; -EINTR if cancelled; -ENOMEM; another errno if helpers
 * cannot be started.
 */
int sym_jobs_run(struct sym_jobs *s, const struct sym_call *c, struct strbuf *why,
		 struct err *err);

#endif
