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

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libsym/build.h"
#include "libsym/exchange.h"
#include "libsym/helper.h"
#include "libsym/request.h"
#include "libsym/sandbox.h"
#include "libsym/spawn.h"
#include "libsym/wire.h"

enum {
	DEADLINE_MS = 10000,
	GRACE_MS = 2000,
	STEP_NS = 50000000,
	MIN_JOBS = 2,
	MAX_JOBS = 16
};

struct sym_server {
	pthread_mutex_t lock; /* over all below */
	pthread_cond_t room;  /* a job ended */
	struct sym_spawned helper;
	unsigned
		started; /* helpers so far: tells an old one's death from the new one's */
	unsigned running, max_jobs;
	unsigned deadline_ms; /* constant */
	char *program;        /* constant */
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
	s->program = strdup(o->program ? o->program : "/proc/self/exe");
	if (!s->program) {
		free(s);
		return NULL;
	}
	s->deadline_ms = o->deadline_ms ? o->deadline_ms : DEADLINE_MS;
	s->max_jobs = o->max_jobs ? o->max_jobs : default_jobs();
	s->helper.control = -1;
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
	sym_spawn_end(&s->helper);
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
			rc = sym_spawn(s->program, &s->helper, err);
			if (rc)
				break;
			s->started++;
		}
		rc = sym_spawn_job(&s->helper, fd, s->deadline_ms);
		if (rc) {
			sym_spawn_end(&s->helper);
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
		sym_spawn_end(&s->helper);
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
	return sym_exchange_run(x, mine, request, s->deadline_ms + GRACE_MS, cancel);
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
		if (rc == -ETIMEDOUT || (!rc && !x->trailer.magic))
			forget(s, which);
		if (rc || x->trailer.magic)
			break;
	}
	leave(s);
	if (rc == -EINTR || rc == -ENOMEM)
		err_errno(err, rc, "symbol helper");
	return rc;
}

/* Why there is no answer. */
static void explain(const struct sym_server *s, int rc, const struct sym_exchange *x,
		    struct strbuf *out)
{
	int status = x->trailer.status;

	if (rc == -ETIMEDOUT || x->trailer.end == SYM_END_DEADLINE ||
	    (x->trailer.magic && WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU))
		strbuf_printf(out, "took longer than %g s", s->deadline_ms / 1000.0);
	else if (!x->trailer.magic)
		strbuf_puts(out, "the helper process was killed");
	else if (WIFSIGNALED(status))
		strbuf_printf(out, "reading it ended with signal %d (%s)",
			      WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == SYM_HELPER_NO_MEMORY)
		strbuf_printf(out, "needs more than %u MiB of memory",
			      SYM_SANDBOX_MEMORY >> 20);
	else if (WEXITSTATUS(status) == SYM_HELPER_TOO_BIG)
		strbuf_printf(out, "has more than %u MiB of symbols", SYM_WIRE_MAX >> 20);
	else
		strbuf_printf(out, "the helper failed with status %d",
			      WEXITSTATUS(status));
}

/* A table that says why there is none. */
static int broken_table(const struct sym_server *s, const struct sym_job *job, int rc,
			const struct sym_exchange *x, struct sym_table **out,
			struct err *err)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	const char *name = job->path && *job->path   ? job->path
			   : job->name && *job->name ? job->name
			   : job->kind == SYM_VDSO   ? "[vdso]"
						     : "kernel symbols";

	explain(s, rc, x, &why);
	strbuf_puts(&b.path, name);
	sym_build_state(&b, SYM_BROKEN, "%s: cannot be read: %s", name, strbuf_str(&why));
	rc = sym_build_finish(&b);
	if (!rc)
		rc = sym_wire_encode(&b, &blob);
	return rc ? err_errno(err, rc, "%s", name)
		  : sym_wire_decode(blob.data, blob.len, out, err);
}

static bool is_final(int rc)
{
	return rc && rc != -ETIMEDOUT && rc != -EBADMSG;
}

int sym_server_load(struct sym_server *s, const struct sym_job *job,
		    const atomic_bool *cancel, struct sym_table **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(sym_exchange_fini) struct sym_exchange x = { 0 };
	int rc;

	sym_request_load(job, &request);
	rc = run_job(s, &request, cancel, &x, err);
	if (is_final(rc))
		return rc;
	if (!rc && x.answer && !x.trailer.status) {
		rc = sym_wire_decode(x.answer, x.answer_len, out, err);
		if (rc != -EBADMSG)
			return rc;
	}
	return broken_table(s, job, rc, &x, out, err);
}

/* Checks that there are @nr texts, and makes control bytes harmless. */
static int take_names(const char *texts, size_t len, size_t nr, struct sym_names **out,
		      struct err *err)
{
	struct sym_names *n;
	char *to;
	size_t found = 0;

	for (size_t i = 0; i < len; i++)
		found += !texts[i];
	if (found != nr || (len && texts[len - 1]))
		return err_set(err, -EBADMSG, "symbol helper: demangling failed");
	n = malloc(sizeof(*n) + nr * sizeof(n->name[0]) + len + 1);
	if (!n)
		return err_errno(err, -ENOMEM, "symbol names");
	n->nr = 0;
	to = (char *)(n->name + nr);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)texts[i];

		if (!i || !texts[i - 1])
			n->name[n->nr++] = to + i;
		to[i] = (c && c < ' ') || c == 0x7f ? '?' : (char)c;
	}
	*out = n;
	return 0;
}

int sym_server_demangle(struct sym_server *s, const char *const *names, size_t nr,
			enum sym_demangle_style style, const atomic_bool *cancel,
			struct sym_names **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(sym_exchange_fini) struct sym_exchange x = { 0 };
	int rc;

	sym_request_demangle(names, nr, style, &request);
	if (!strbuf_error(&request) && (style == SYM_DEMANGLE_NONE || !nr)) {
		size_t head = sizeof(struct sym_frame) + 3 * sizeof(uint32_t);

		return take_names(request.data + head, request.len - head, nr, out, err);
	}
	rc = run_job(s, &request, cancel, &x, err);
	if (is_final(rc))
		return rc;
	if (!rc && x.answer && !x.trailer.status)
		return take_names(x.answer, x.answer_len, nr, out, err);
	explain(s, rc, &x, &why);
	return err_set(err, -EBADMSG, "demangling %zu names: %s", nr, strbuf_str(&why));
}
