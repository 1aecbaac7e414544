/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/jobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/box/sandbox.h"
#include "base/cleanup.h"
#include "base/meminfo.h"
#include "base/thread.h"
#include "base/viewer.h"
#include "libsym/file/seen.h"
#include "libsym/helper/helper.h"
#include "libsym/server/exchange.h"
#include "libsym/server/server.h"
#include "libsym/wire/request.h"
#include "libsym/wire/wire.h"

enum { CPU_S = 10, BLOCKED_MS = 30000, MIN_JOBS = 4, MAX_JOBS = 16 };

static unsigned default_jobs(void)
{
	long n = 2 * sysconf(_SC_NPROCESSORS_ONLN);

	return n < MIN_JOBS ? MIN_JOBS : n > MAX_JOBS ? MAX_JOBS : (unsigned)n;
}

int sym_jobs_init(struct sym_jobs *s, const struct sym_server_options *o)
{
	unsigned max_jobs = o->max_jobs ? o->max_jobs : default_jobs();

	*s = (struct sym_jobs){ .remembers = o->remembers };
	s->program = o->program ? strdup(o->program) : NULL;
	if ((o->program && !s->program) ||
	    sym_helpers_init(&s->helpers, max_jobs, s->program)) {
		free(s->program);
		return -ENOMEM;
	}
	s->limits.cpu_s = o->cpu_s ? o->cpu_s : CPU_S;
	s->limits.blocked_ms = o->blocked_ms ? o->blocked_ms : BLOCKED_MS;
	share_init(&s->running, max_jobs, o->fair);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->room, NULL);
	sym_answers_init(&s->answers);
	return 0;
}

void sym_jobs_fini(struct sym_jobs *s)
{
	sym_helpers_fini(&s->helpers);
	pthread_cond_destroy(&s->room);
	pthread_mutex_destroy(&s->lock);
	share_fini(&s->running);
	sym_answers_fini(&s->answers);
	free(s->program);
}

/* Takes a place of @uid's share, and memory, for one more; his first needs no memory that
 * others have taken.  Lock held. */
static int take_room(struct sym_jobs *s, uid_t uid)
{
	/* the memory last: the kernel is asked for it */
	if (!share_may(&s->running, uid, 1) ||
	    (share_of(&s->running, uid) && meminfo_available() < SANDBOX_MEMORY))
		return -EAGAIN;
	return share_take(&s->running, uid, 1);
}

static int enter(struct sym_jobs *s, uid_t uid, const atomic_bool *cancel,
		 struct sym_helper **out)
{
	int rc;

	pthread_mutex_lock(&s->lock);
	while ((rc = take_room(s, uid)) == -EAGAIN && !is_cancelled(cancel))
		thread_wait(&s->room, &s->lock);
	if (!rc)
		*out = sym_helpers_take(&s->helpers, uid);
	pthread_mutex_unlock(&s->lock);
	return rc == -EAGAIN ? -EINTR : rc;
}

static void leave(struct sym_jobs *s, struct sym_helper *h)
{
	pthread_mutex_lock(&s->lock);
	sym_helpers_give(h);
	share_give(&s->running, h->uid, 1);
	/* not only the first in line may go on now */
	pthread_cond_broadcast(&s->room);
	pthread_mutex_unlock(&s->lock);
}

static int hand_over(struct sym_jobs *s, struct sym_helper *h, const struct sym_call *c,
		     int fd, unsigned *which, struct err *err)
{
	struct box_limits limits = s->limits;
	int rc;

	limits.waits_ms = c->waits_ms;
	limits.owner = c->who ? c->who->uid : 0;
	pthread_mutex_lock(&s->lock);
	rc = sym_helpers_job(&s->helpers, h, fd, &limits, which, err);
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void forget(struct sym_jobs *s, struct sym_helper *h, unsigned which)
{
	pthread_mutex_lock(&s->lock);
	sym_helpers_forget(h, which);
	pthread_mutex_unlock(&s->lock);
}

static int run_once(struct sym_jobs *s, struct sym_helper *h, const struct sym_call *c,
		    struct sym_exchange *x, unsigned *which, struct err *err)
{
	int pair[2], rc;
	CLEANUP(close_fd) int mine = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(err, -errno, "symbol helper");
	mine = pair[0];
	rc = hand_over(s, h, c, pair[1], which, err);
	close(pair[1]);
	if (rc)
		return rc;
	return sym_exchange_run(x, mine, c->request, c->cancel);
}

/*
 * One job.  0 if the exchange came to its end, whatever @x holds then.  A helper that
 * died without a word about the job (killed from outside) is replaced once.
 */
static int run_job(struct sym_jobs *s, const struct sym_call *c, struct sym_exchange *x,
		   struct err *err)
{
	uid_t uid = c->who ? c->who->uid : geteuid();
	struct sym_helper *h = NULL;
	unsigned which = 0;
	int rc = strbuf_error(c->request);

	if (rc || c->request->len - sizeof(struct sym_frame) > SYM_REQUEST_MAX)
		return err_errno(err, rc ? rc : -E2BIG, "symbol helper");
	rc = enter(s, uid, c->cancel, &h);
	if (rc)
		return err_errno(err, rc, "symbol helper");
	for (int attempt = 0; attempt < 2; attempt++) {
		sym_exchange_fini(x);
		rc = run_once(s, h, c, x, &which, err);
		if (!rc && !x->trailer.magic)
			forget(s, h, which);
		if (rc || x->trailer.magic)
			break;
	}
	leave(s, h);
	if (rc == -EINTR || rc == -ENOMEM)
		err_errno(err, rc, "symbol helper");
	return rc;
}

static bool ended_with(const struct sym_exchange *x, int status)
{
	return x->trailer.magic && WIFEXITED(x->trailer.status) &&
	       WEXITSTATUS(x->trailer.status) == status;
}

/* The reason why there is no answer. */
static void explain(const struct sym_jobs *s, const struct sym_exchange *x,
		    struct strbuf *out)
{
	int status = x->trailer.status;

	if (x->trailer.end == BOX_END_BLOCKED)
		strbuf_printf(out, "waited longer than %g s for its files",
			      s->limits.blocked_ms / 1000.0);
	else if (x->trailer.magic && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		strbuf_printf(out, "needs more than %u s of processor time",
			      s->limits.cpu_s);
	else if (!x->trailer.magic)
		strbuf_puts(out, "the helper process was killed");
	else if (WIFSIGNALED(status))
		strbuf_printf(out, "reading it ended with signal %d (%s)",
			      WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (ended_with(x, SYM_HELPER_NO_MEMORY))
		strbuf_printf(out, "needs more than %u MiB of memory",
			      SANDBOX_MEMORY >> 20);
	else if (ended_with(x, SYM_HELPER_TOO_BIG))
		strbuf_printf(out, "has more to tell than %u MiB", SYM_WIRE_MAX >> 20);
	else if (WEXITSTATUS(status))
		strbuf_printf(out, "the helper failed with status %d",
			      WEXITSTATUS(status));
	else
		strbuf_puts(out, "the helper's answer makes no sense");
}

/* The helper's own words, with control bytes replaced. */
static int refuse(const struct sym_exchange *x, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };

	for (size_t i = 0; i < x->answer_len; i++)
		strbuf_putc(&why, sym_wire_plain(x->answer[i]));
	return err_set(err, -EINVAL, "%s", strbuf_str(&why));
}

/* What is remembered was told this user, and is told nobody else. */
static bool may_remember(const struct sym_jobs *s, const struct sym_call *c)
{
	return s->remembers && c->again &&
	       (!c->who || (c->who->uid == geteuid() && c->who->gid == getegid()));
}

/* 1: nothing is remembered as @key. */
static int remember(struct sym_jobs *s, const struct sym_call *c,
		    const struct strbuf *key, struct err *err)
{
	CLEANUP(sym_kept_answer_fini) struct sym_kept_answer k = { 0 };
	int rc = 1;

	if (may_remember(s, c) && sym_answers_get(&s->answers, key, &k))
		rc = c->form ? c->form->take(c->arg, &k, err)
			     : c->take(c->arg, k.answer, k.len, err);
	return rc == -EBADMSG ? 1 : rc;
}

static void note_answer(struct sym_jobs *s, const struct sym_call *c,
			const struct sym_exchange *x)
{
	const void *data = x->answer;
	size_t len = x->answer_len;

	if (!may_remember(s, c) || !x->seen)
		return;
	if (c->form)
		c->form->give(c->arg, &data, &len);
	sym_answers_put(&s->answers, c->request, x->seen, x->seen_len, data, len);
}

/* What the file tells is remembered as its own: who wrote it shall not answer for others.
 * As sym_jobs_run(). */
static int take_file(struct sym_jobs *s, const struct sym_call *c, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf key = { 0 };
	CLEANUP(strbuf_fini) struct strbuf seen = { 0 };
	const void *data;
	size_t len;
	int rc;

	strbuf_add(&key, c->request->data, c->request->len);
	strbuf_puts(&key, c->file);
	rc = remember(s, c, &key, err);
	if (rc <= 0)
		return rc;
	sym_seen_add(&seen, c->file);
	if (c->about)
		sym_seen_add(&seen, c->about);
	rc = c->take_file(c->arg);
	if (rc < 0)
		return err_errno(err, rc, "%s", c->file);
	if (!rc && !strbuf_error(&seen) && may_remember(s, c)) {
		c->form->give(c->arg, &data, &len);
		sym_answers_put(&s->answers, &key, seen.data, seen.len, data, len);
	}
	return rc;
}

int sym_jobs_run(struct sym_jobs *s, const struct sym_call *c, struct strbuf *why,
		 struct err *err)
{
	CLEANUP(sym_exchange_fini) struct sym_exchange x = SYM_EXCHANGE_NONE;
	int rc = remember(s, c, c->request, err);

	if (rc > 0 && c->file && *c->file)
		rc = take_file(s, c, err);
	if (rc <= 0)
		return rc;
	rc = run_job(s, c, &x, err);
	if (rc && rc != -EBADMSG)
		return rc;
	if (!rc && x.answer && ended_with(&x, 0)) {
		rc = c->take(c->arg, x.answer, x.answer_len, err);
		if (!rc && c->fd)
			*c->fd = take_fd(&x.fd);
		if (!rc)
			note_answer(s, c, &x);
		if (rc != -EBADMSG)
			return rc;
	}
	if (!rc && x.answer && ended_with(&x, SYM_HELPER_REFUSED))
		return refuse(&x, err);
	explain(s, &x, why);
	return strbuf_error(why) ? err_errno(err, -ENOMEM, "symbol helper") : 1;
}
