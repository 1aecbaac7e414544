/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/server.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/box/box.h"
#include "base/box/sandbox.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/meminfo.h"
#include "base/share.h"
#include "base/strbuf.h"
#include "base/thread.h"
#include "base/viewer.h"
#include "libsym/file/find.h"
#include "libsym/file/resolve.h"
#include "libsym/helper/helper.h"
#include "libsym/server/arrivals.h"
#include "libsym/server/exchange.h"
#include "libsym/server/helpers.h"
#include "libsym/table/job.h"
#include "libsym/wire/build.h"
#include "libsym/wire/disasm_wire.h"
#include "libsym/wire/kept.h"
#include "libsym/wire/lines_wire.h"
#include "libsym/wire/request.h"
#include "libsym/wire/source_wire.h"
#include "libsym/wire/wire.h"

/* Decodes a helper's answer.  0; -EBADMSG if it makes no sense; -ENOMEM. */
typedef int take_answer(void *arg, const void *data, size_t len, struct err *err);

enum { CPU_S = 10, BLOCKED_MS = 30000, MIN_JOBS = 4, MAX_JOBS = 16 };

/* Who looks up a name waits for this, and all who look for the same. */
enum { RESOLVE_MS = 2000 };

/* One job of any kind. */
struct call {
	const struct strbuf *request; /* frame included, see libsym/wire/request.h */
	const struct cred *who;       /* whose job it is; NULL: this process's */
	uint32_t waits_ms;            /* as in struct box_limits */
	take_answer *take; /* is given the answer, if there is one, aligned to 8 bytes */
	void *arg;
	const atomic_bool *cancel;
	int *fd; /* a descriptor that comes along; NULL: none is wanted */
};

struct sym_server {
	pthread_mutex_t lock; /* over all below */
	pthread_cond_t room;  /* a job ended */
	struct share jobs;    /* that run */
	struct sym_helpers helpers;
	struct box_limits limits; /* constant */
	char *program;            /* constant; NULL: /proc/self/exe */
	struct sym_arrivals arrivals;
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
	unsigned max_jobs = o->max_jobs ? o->max_jobs : default_jobs();
	struct sym_server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->program = o->program ? strdup(o->program) : NULL;
	if ((o->program && !s->program) ||
	    sym_helpers_init(&s->helpers, max_jobs, s->program)) {
		free(s->program);
		free(s);
		return NULL;
	}
	s->limits.cpu_s = o->cpu_s ? o->cpu_s : CPU_S;
	s->limits.blocked_ms = o->blocked_ms ? o->blocked_ms : BLOCKED_MS;
	share_init(&s->jobs, max_jobs, o->fair);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->room, NULL);
	sym_arrivals_init(&s->arrivals);
	return s;
}

void sym_server_free(struct sym_server *s)
{
	if (!s)
		return;
	sym_helpers_fini(&s->helpers);
	pthread_cond_destroy(&s->room);
	pthread_mutex_destroy(&s->lock);
	share_fini(&s->jobs);
	sym_arrivals_fini(&s->arrivals);
	free(s->program);
	free(s);
}

uint64_t sym_server_arrivals(struct sym_server *s)
{
	return sym_arrivals_count(&s->arrivals);
}

/* Something of an image was not found: what of it has files that may come? */
static void await_files(struct sym_server *s, const struct sym_job *job)
{
	if (job->kind != SYM_VDSO && job->kind != SYM_KALLSYMS)
		sym_arrivals_await(&s->arrivals, &job->build_id);
}

/* Takes a place of @uid's share, and memory, for one more; his first needs no memory that
 * others have taken.  Lock held. */
static int take_room(struct sym_server *s, uid_t uid)
{
	/* the memory last: the kernel is asked for it */
	if (!share_may(&s->jobs, uid, 1) ||
	    (share_of(&s->jobs, uid) && meminfo_available() < SANDBOX_MEMORY))
		return -EAGAIN;
	return share_take(&s->jobs, uid, 1);
}

static int enter(struct sym_server *s, uid_t uid, const atomic_bool *cancel,
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

static void leave(struct sym_server *s, struct sym_helper *h)
{
	pthread_mutex_lock(&s->lock);
	sym_helpers_give(h);
	share_give(&s->jobs, h->uid, 1);
	/* not only the first in line may go on now */
	pthread_cond_broadcast(&s->room);
	pthread_mutex_unlock(&s->lock);
}

static int hand_over(struct sym_server *s, struct sym_helper *h, const struct call *c,
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

static void forget(struct sym_server *s, struct sym_helper *h, unsigned which)
{
	pthread_mutex_lock(&s->lock);
	sym_helpers_forget(h, which);
	pthread_mutex_unlock(&s->lock);
}

static int run_once(struct sym_server *s, struct sym_helper *h, const struct call *c,
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
static int run_job(struct sym_server *s, const struct call *c, struct sym_exchange *x,
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

/**
 * run - one job
 * @why: the end of the helper in words ("needs more than 10 s of processor time"), if
 *	there is no answer
 * Returns 0 if the answer was taken, 1 if there is none and @why tells the reason;
 * -EINVAL if the helper refused; -EINTR if cancelled; -ENOMEM; another errno if helpers
 * cannot be started.
 */
static int run(struct sym_server *s, const struct call *c, struct strbuf *why,
	       struct err *err)
{
	CLEANUP(sym_exchange_fini) struct sym_exchange x = SYM_EXCHANGE_NONE;
	int rc = run_job(s, c, &x, err);

	if (rc && rc != -EBADMSG)
		return rc;
	if (!rc && x.answer && ended_with(&x, 0)) {
		rc = c->take(c->arg, x.answer, x.answer_len, err);
		if (!rc && c->fd)
			*c->fd = take_fd(&x.fd);
		if (rc != -EBADMSG)
			return rc;
	}
	if (!rc && x.answer && ended_with(&x, SYM_HELPER_REFUSED))
		return refuse(&x, err);
	explain(s, &x, why);
	return strbuf_error(why) ? err_errno(err, -ENOMEM, "symbol helper") : 1;
}

/* The name of a job's image in messages. */
static const char *job_name(const struct sym_job *job)
{
	if (job->path && *job->path)
		return job->path;
	if (job->name && *job->name)
		return job->name;
	return job->kind == SYM_VDSO ? "[vdso]" : "kernel symbols";
}

/* A table without symbols that gives the reason. */
static int broken_table(const struct sym_job *job, const char *why,
			struct sym_table **out, struct err *err)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	const char *name = job_name(job);
	int rc;

	strbuf_puts(&b.path, name);
	sym_build_state(&b, SYM_BROKEN, "%s: cannot be read: %s", name, why);
	rc = sym_build_finish(&b);
	if (!rc)
		rc = sym_wire_encode(&b, &blob);
	return rc ? err_errno(err, rc, "%s", name)
		  : sym_wire_decode(blob.data, blob.len, out, err);
}

static int take_table(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_wire_decode(data, len, arg, err);
}

/* Takes the names that were kept, where they are more than the file has today. */
static int prefer_kept(const struct sym_job *job, struct sym_table **out)
{
	CLEANUP(sym_table_putp) struct sym_table *then = NULL;
	CLEANUP(sym_kept_fini) struct sym_kept kept = { 0 };
	int rc;

	if (!job->kept || sym_table_rank(*out) >= SYM_BEST)
		return 0;
	rc = sym_kept_read(job->kept, job, &kept, NULL);
	if (!rc)
		rc = sym_kept_table(&kept, job, &then, NULL);
	if (!rc && sym_table_rank(then) > sym_table_rank(*out)) {
		sym_table_put(*out);
		*out = TAKE(then);
	}
	return rc == -ENOMEM ? rc : 0;
}

int sym_server_load(struct sym_server *s, const struct sym_job *job,
		    const atomic_bool *cancel, struct sym_table **out, struct err *err)
{
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	int rc;

	sym_request_load(job, &request);
	rc = run(s,
		 &(struct call){ .request = &request,
				 .who = job->cred,
				 .take = take_table,
				 .arg = &t,
				 .cancel = cancel },
		 &why, err);
	if (rc > 0)
		rc = broken_table(job, strbuf_str(&why), &t, err);
	if (!rc && prefer_kept(job, &t))
		rc = err_errno(err, -ENOMEM, "kept symbols");
	if (!rc)
		*out = TAKE(t);
	return rc;
}

struct wanted_names {
	size_t nr;
	struct sym_names **out;
};

/* Checks that there are as many texts, and makes control bytes harmless. */
static int take_names(void *arg, const void *data, size_t len, struct err *err)
{
	const struct wanted_names *w = arg;
	const char *texts = data;
	struct sym_names *n;
	char *to;
	size_t found = 0;

	for (size_t i = 0; i < len; i++)
		found += !texts[i];
	if (found != w->nr || (len && texts[len - 1]))
		return err_set(err, -EBADMSG, "symbol helper: demangling failed");
	n = malloc(sizeof(*n) + w->nr * sizeof(n->name[0]) + len + 1);
	if (!n)
		return err_errno(err, -ENOMEM, "symbol names");
	n->nr = 0;
	to = (char *)(n->name + w->nr);
	for (size_t i = 0; i < len; i++) {
		if (!i || !texts[i - 1])
			n->name[n->nr++] = to + i;
		to[i] = sym_wire_plain(texts[i]);
	}
	*w->out = n;
	return 0;
}

int sym_server_demangle(struct sym_server *s, const char *const *names, size_t nr,
			enum sym_demangle_style style, const struct viewer *v,
			struct sym_names **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	struct wanted_names want = { .nr = nr, .out = out };
	int rc;

	sym_request_demangle(names, nr, style, &request);
	if (!strbuf_error(&request) && (style == SYM_DEMANGLE_NONE || !nr)) {
		size_t head = sizeof(struct sym_frame) + 3 * sizeof(uint32_t);

		return take_names(&want, request.data + head, request.len - head, err);
	}
	rc = run(s,
		 &(struct call){ .request = &request,
				 .who = viewer_cred(v),
				 .take = take_names,
				 .arg = &want,
				 .cancel = viewer_cancel(v) },
		 &why, err);
	return rc <= 0 ? rc
		       : err_set(err, -EBADMSG, "demangling %zu names: %s", nr,
				 strbuf_str(&why));
}

static int take_paths(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_find_decode(data, len, arg, err);
}

int sym_server_find(struct sym_server *s, const struct sym_wanted *w,
		    const struct cred *cred, const atomic_bool *cancel,
		    struct sym_found **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	int rc;

	sym_request_find(w, cred, &request);
	rc = run(s,
		 &(struct call){ .request = &request,
				 .who = cred,
				 .take = take_paths,
				 .arg = out,
				 .cancel = cancel },
		 &why, err);
	return rc <= 0 ? rc
		       : err_set(err, -EIO, "looking for binaries in %s: %s",
				 w->nr_dirs ? w->dirs[0] : "no directory",
				 strbuf_str(&why));
}

static int take_resolved(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_resolve_decode(data, len, arg, err);
}

int sym_server_resolve(struct sym_server *s, const char *path, const struct cred *cred,
		       const atomic_bool *cancel, struct sym_resolved *out,
		       struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	int rc;

	sym_request_paths(SYM_REQUEST_RESOLVE, &path, 1, cred, &request);
	rc = run(s,
		 &(struct call){ .request = &request,
				 .who = cred,
				 .waits_ms = RESOLVE_MS,
				 .take = take_resolved,
				 .arg = out,
				 .cancel = cancel },
		 &why, err);
	return rc > 0 ? 0 : rc;
}

static int take_err(void *arg, const void *data, size_t len, struct err *err)
{
	struct err *told = arg;

	if (len != sizeof(*told))
		return err_set(err, -EBADMSG, "symbol helper: opening failed");
	memcpy(told, data, len);
	told->msg[sizeof(told->msg) - 1] = '\0';
	for (char *c = told->msg; *c; c++)
		*c = sym_wire_plain(*c);
	return 0;
}

int sym_server_open(struct sym_server *s, const char *path, const struct cred *cred,
		    const atomic_bool *cancel, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(close_fd) int fd = -1;
	struct err told = { 0 };
	struct stat st;
	struct call c = { .request = &request,
			  .who = cred,
			  .take = take_err,
			  .arg = &told,
			  .cancel = cancel,
			  .fd = &fd };
	int rc;

	sym_request_paths(SYM_REQUEST_OPEN, &path, 1, cred, &request);
	rc = run(s, &c, &why, err);
	if (rc > 0)
		return err_set(err, -EIO, "%s: %s", path, strbuf_str(&why));
	if (!rc && told.code < 0)
		rc = err_set(err, told.code, "%s", told.msg);
	if (rc)
		return rc;
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(err, -EIO, "%s: the helper's answer makes no sense", path);
	return take_fd(&fd);
}

static const char *broken(const char *name, struct strbuf *why, struct strbuf *reason)
{
	strbuf_printf(reason, "%s: cannot be read: %s", name, strbuf_str(why));
	return strbuf_str(reason);
}

struct wanted_lines {
	unsigned flags;
	struct sym_lines **out;
};

static int take_lines(void *arg, const void *data, size_t len, struct err *err)
{
	const struct wanted_lines *w = arg;

	return sym_lines_decode(data, len, w->flags, w->out, err);
}

static void await_lines(struct sym_server *s, const struct sym_job *job,
			const struct sym_lines *l)
{
	struct build_id shared;

	if (l->state != SYM_OK)
		await_files(s, job);
	if (*l->alt_id && !*l->alt_path && !build_id_parse(l->alt_id, &shared))
		sym_arrivals_await(&s->arrivals, &shared);
}

/* Takes the lines that were kept, where the file has none today. */
static int replace_lines(const struct sym_job *job, unsigned flags,
			 struct sym_lines **lines)
{
	CLEANUP(sym_kept_fini) struct sym_kept kept = { 0 };
	struct sym_lines *then;
	int rc;

	if (!job->kept || (*lines)->nr_rows)
		return 0;
	rc = sym_kept_read(job->kept, job, &kept, NULL);
	if (!rc)
		rc = sym_kept_lines(&kept, flags, &then, NULL);
	if (!rc) {
		sym_lines_put(*lines);
		*lines = then;
	}
	return rc == -ENOMEM ? rc : 0;
}

int sym_server_lines(struct sym_server *s, const struct sym_job *job,
		     const struct sym_range *ranges, size_t nr, unsigned flags,
		     const atomic_bool *cancel, struct sym_lines **out, struct err *err)
{
	CLEANUP(sym_lines_putp) struct sym_lines *lines = NULL;
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(strbuf_fini) struct strbuf reason = { 0 };
	struct sym_parts parts = { .ranges = ranges, .nr = nr, .flags = flags };
	struct wanted_lines want = { .flags = flags, .out = &lines };
	int rc;

	sym_request_parts(SYM_REQUEST_LINES, job, &parts, &request);
	rc = run(s,
		 &(struct call){ .request = &request,
				 .who = job->cred,
				 .take = take_lines,
				 .arg = &want,
				 .cancel = cancel },
		 &why, err);
	if (rc > 0)
		rc = sym_lines_none(SYM_BROKEN, broken(job_name(job), &why, &reason),
				    &lines, err);
	if (!rc)
		await_lines(s, job, lines);
	if (!rc && replace_lines(job, flags, &lines))
		rc = err_errno(err, -ENOMEM, "kept source lines");
	if (!rc)
		*out = TAKE(lines);
	return rc;
}

static int take_bytes(void *arg, const void *data, size_t len, struct err *err)
{
	strbuf_add(arg, data, len);
	return strbuf_error(arg) ? err_errno(err, -ENOMEM, "symbol helper") : 0;
}

int sym_server_answer(struct sym_server *s, const struct strbuf *request,
		      const atomic_bool *cancel, struct strbuf *out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	int rc = run(s,
		     &(struct call){ .request = request,
				     .take = take_bytes,
				     .arg = out,
				     .cancel = cancel },
		     &why, err);

	return rc <= 0 ? rc : err_set(err, -EIO, "%s", strbuf_str(&why));
}

static int take_disasm(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_disasm_decode(data, len, arg, err);
}

int sym_server_disasm(struct sym_server *s, const struct sym_job *job,
		      const struct sym_range *ranges, size_t nr, const char *options,
		      const atomic_bool *cancel, struct sym_disasm **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(strbuf_fini) struct strbuf reason = { 0 };
	struct sym_parts parts = { .ranges = ranges, .nr = nr, .options = options };
	int rc;

	sym_request_parts(SYM_REQUEST_DISASM, job, &parts, &request);
	rc = run(s,
		 &(struct call){ .request = &request,
				 .who = job->cred,
				 .take = take_disasm,
				 .arg = out,
				 .cancel = cancel },
		 &why, err);
	if (rc > 0)
		return sym_disasm_none(SYM_BROKEN, broken(job_name(job), &why, &reason),
				       out, err);
	if (!rc && (*out)->state != SYM_OK)
		await_files(s, job);
	return rc;
}

static int take_source(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_source_decode(data, len, arg, err);
}

int sym_server_source(struct sym_server *s, const char *const *paths, size_t nr,
		      const struct cred *cred, const atomic_bool *cancel,
		      struct sym_text **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(strbuf_fini) struct strbuf reason = { 0 };
	int rc;

	sym_request_paths(SYM_REQUEST_SOURCE, paths, nr, cred, &request);
	rc = run(s,
		 &(struct call){ .request = &request,
				 .who = cred,
				 .take = take_source,
				 .arg = out,
				 .cancel = cancel },
		 &why, err);
	return rc <= 0 ? rc
		       : sym_source_none(SYM_BROKEN,
					 broken(nr ? paths[0] : "source file", &why,
						&reason),
					 out, err);
}
