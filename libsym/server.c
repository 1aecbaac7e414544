/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/box/box.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libsym/exchange.h"
#include "libsym/helper.h"
#include "libsym/request.h"
#include "libsym/sandbox.h"
#include "libsym/server_run.h"
#include "libsym/wire.h"

enum { CPU_S = 10, BLOCKED_MS = 30000, STEP_NS = 50000000, MIN_JOBS = 2, MAX_JOBS = 16 };

struct sym_server {
	pthread_mutex_t lock; /* over all below */
	pthread_cond_t room;  /* a job ended */
	struct box helper;
	unsigned
		started; /* helpers so far: tells an old one's death from the new one's */
	unsigned running, max_jobs;
	struct box_limits limits; /* constant */
	char *program;            /* constant; NULL: /proc/self/exe */
};

static unsigned default_jobs(void)
{
	long n = 2 * sysconf(_SC_NPROCESSORS_ONLN);

	return n < MIN_JOBS ? MIN_JOBS : n > MAX_JOBS ? MAX_JOBS : (unsigned)n;
}

struct sym_server *sym_server_new(const struct sym_server_options *opts)
{
	static const struct sym_server_options none;
	const struct sym_server_options *o = opts ? opts : &none;
	struct sym_server *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s)
		return NULL;
	s->program = o->program ? strdup(o->program) : NULL;
	if (o->program && !s->program) {
		free(s);
		return NULL;
	}
	s->limits.cpu_s = o->cpu_s ? o->cpu_s : CPU_S;
	s->limits.blocked_ms = o->blocked_ms ? o->blocked_ms : BLOCKED_MS;
	s->max_jobs = o->max_jobs ? o->max_jobs : default_jobs();
	s->helper = (struct box)BOX_NONE;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->room, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

void sym_server_free(struct sym_server *s)
{
	if (!s)
		return;
	box_end(&s->helper);
	pthread_cond_destroy(&s->room);
	pthread_mutex_destroy(&s->lock);
	free(s->program);
	free(s);
}

static bool is_cancelled(const atomic_bool *cancel)
{
	return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}

static int enter(struct sym_server *s, const atomic_bool *cancel)
{
	struct timespec t;
	int rc = 0;

	pthread_mutex_lock(&s->lock);
	while (s->running >= s->max_jobs && !rc) {
		clock_gettime(CLOCK_MONOTONIC, &t);
		t.tv_nsec += STEP_NS;
		if (t.tv_nsec >= 1000000000) {
			t.tv_sec++;
			t.tv_nsec -= 1000000000;
		}
		pthread_cond_timedwait(&s->room, &s->lock, &t);
		rc = is_cancelled(cancel) ? -EINTR : 0;
	}
	if (!rc)
		s->running++;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

static void leave(struct sym_server *s)
{
	pthread_mutex_lock(&s->lock);
	s->running--;
	pthread_cond_signal(&s->room);
	pthread_mutex_unlock(&s->lock);
}

/* Hands the socket to the helper, which is started if there is none (any more). */
static int hand_over(struct sym_server *s, int fd, unsigned *which, struct err *err)
{
	int rc = -EPIPE;

	pthread_mutex_lock(&s->lock);
	for (int attempt = 0; attempt < 2 && rc; attempt++) {
		if (s->helper.control < 0) {
			rc = box_start(&sym_helper_box, s->program, &s->helper, err);
			if (rc)
				break;
			s->started++;
		}
		rc = box_job(&s->helper, fd, &s->limits);
		if (rc) {
			box_end(&s->helper);
			err_errno(err, rc, "symbol helper");
		}
	}
	*which = s->started;
	pthread_mutex_unlock(&s->lock);
	return rc;
}

/* Forgets helper number @which, unless somebody else did so. */
static void forget(struct sym_server *s, unsigned which)
{
	pthread_mutex_lock(&s->lock);
	if (s->started == which)
		box_end(&s->helper);
	pthread_mutex_unlock(&s->lock);
}

static int run_once(struct sym_server *s, const struct strbuf *request,
		    const atomic_bool *cancel, struct sym_exchange *x, unsigned *which,
		    struct err *err)
{
	int pair[2], rc;
	CLEANUP(close_fd) int mine = -1;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_errno(err, -errno, "symbol helper");
	mine = pair[0];
	rc = hand_over(s, pair[1], which, err);
	close(pair[1]);
	if (rc)
		return rc;
	return sym_exchange_run(x, mine, request, cancel);
}

/*
 * One job.  0 if the exchange came to its end, whatever is in @x then.  A helper that
 * went away without a word about the job (killed from outside) is replaced once.
 */
static int run_job(struct sym_server *s, const struct strbuf *request,
		   const atomic_bool *cancel, struct sym_exchange *x, struct err *err)
{
	unsigned which = 0;
	int rc = strbuf_error(request);

	if (rc || request->len - sizeof(struct sym_frame) > SYM_REQUEST_MAX)
		return err_errno(err, rc ? rc : -E2BIG, "symbol helper");
	rc = enter(s, cancel);
	if (rc)
		return err_errno(err, rc, "symbol helper");
	for (int attempt = 0; attempt < 2; attempt++) {
		sym_exchange_fini(x);
		rc = run_once(s, request, cancel, x, &which, err);
		if (!rc && !x->trailer.magic)
			forget(s, which);
		if (rc || x->trailer.magic)
			break;
	}
	leave(s);
	if (rc == -EINTR || rc == -ENOMEM)
		err_errno(err, rc, "symbol helper");
	return rc;
}

static bool ended_with(const struct sym_exchange *x, int status)
{
	return x->trailer.magic && WIFEXITED(x->trailer.status) &&
	       WEXITSTATUS(x->trailer.status) == status;
}

/* Why there is no answer. */
static void explain(const struct sym_server *s, const struct sym_exchange *x,
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
			      SYM_SANDBOX_MEMORY >> 20);
	else if (ended_with(x, SYM_HELPER_TOO_BIG))
		strbuf_printf(out, "has more to tell than %u MiB", SYM_WIRE_MAX >> 20);
	else if (WEXITSTATUS(status))
		strbuf_printf(out, "the helper failed with status %d",
			      WEXITSTATUS(status));
	else
		strbuf_puts(out, "the helper's answer makes no sense");
}

/* The helper's own words, made harmless. */
static int refuse(const struct sym_exchange *x, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };

	for (size_t i = 0; i < x->answer_len; i++)
		strbuf_putc(&why, sym_wire_plain(x->answer[i]));
	return err_set(err, -EINVAL, "%s", strbuf_str(&why));
}

int sym_server_run(struct sym_server *s, const struct strbuf *request,
		   sym_take_answer *take, void *arg, const atomic_bool *cancel,
		   struct strbuf *why, struct err *err)
{
	CLEANUP(sym_exchange_fini) struct sym_exchange x = { 0 };
	int rc = run_job(s, request, cancel, &x, err);

	if (rc && rc != -EBADMSG)
		return rc;
	if (!rc && x.answer && ended_with(&x, 0)) {
		rc = take(arg, x.answer, x.answer_len, err);
		if (rc != -EBADMSG)
			return rc;
	}
	if (!rc && x.answer && ended_with(&x, SYM_HELPER_REFUSED))
		return refuse(&x, err);
	explain(s, &x, why);
	return strbuf_error(why) ? err_errno(err, -ENOMEM, "symbol helper") : 1;
}
