/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server/server.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "base/viewer.h"
#include "libsym/file/find.h"
#include "libsym/file/identity.h"
#include "libsym/file/resolve.h"
#include "libsym/server/arrivals.h"
#include "libsym/server/jobs.h"
#include "libsym/table/job.h"
#include "libsym/wire/build.h"
#include "libsym/wire/disasm_wire.h"
#include "libsym/wire/image.h"
#include "libsym/wire/kept.h"
#include "libsym/wire/lines_wire.h"
#include "libsym/wire/request.h"
#include "libsym/wire/source_wire.h"
#include "libsym/wire/wire.h"

/* Who looks up a name waits for this, and all who look for the same. */
enum { RESOLVE_MS = 2000 };

struct sym_server {
	struct sym_jobs jobs;
	struct sym_arrivals arrivals;
};

struct sym_server *sym_server_new(const struct sym_server_options *opts)
{
	static const struct sym_server_options none;
	struct sym_server *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	if (sym_jobs_init(&s->jobs, opts ? opts : &none)) {
		free(s);
		return NULL;
	}
	sym_arrivals_init(&s->arrivals);
	return s;
}

void sym_server_free(struct sym_server *s)
{
	if (!s)
		return;
	sym_jobs_fini(&s->jobs);
	sym_arrivals_fini(&s->arrivals);
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

struct wanted_table {
	const struct sym_job *job;
	struct sym_table *table;
};

static void wanted_table_fini(struct wanted_table *w)
{
	sym_table_put(w->table);
}

static int take_table(void *arg, const void *data, size_t len, struct err *err)
{
	struct wanted_table *w = arg;

	return sym_wire_decode(data, len, &w->table, err);
}

static int take_image(void *arg, struct sym_kept_answer *k, struct err *err)
{
	struct wanted_table *w = arg;
	int rc = sym_image_table(k->answer, k->len, sym_answers_unmap, &w->table, err);

	if (!rc)
		k->answer = NULL;
	return rc;
}

static void give_image(void *arg, const void **data, size_t *len)
{
	const struct wanted_table *w = arg;

	*data = w->table->image;
	*len = w->table->image_len;
}

/* Tables need not be decoded again. */
static const struct sym_kept_form table_form = { .take = take_image, .give = give_image };

/* The names that were kept, if they rank above @least; else *out stays.  0 or -ENOMEM. */
static int load_kept(const struct sym_job *job, unsigned least, struct sym_table **out)
{
	CLEANUP(sym_table_putp) struct sym_table *then = NULL;
	CLEANUP(sym_kept_fini) struct sym_kept kept = { 0 };
	int rc = job->kept ? sym_kept_read(job->kept, job, &kept, NULL) : -ENOENT;

	if (!rc)
		rc = sym_kept_table(&kept, job, &then, NULL);
	if (!rc && sym_table_rank(then) > least) {
		sym_table_put(*out);
		*out = TAKE(then);
	}
	return rc == -ENOMEM ? rc : 0;
}

/* NULL: the running kernel's names come from no file that could change. */
static const char *file_of(const struct sym_job *job)
{
	return job->kind == SYM_KALLSYMS ? NULL : job->path ? job->path : "";
}

/* Is its file as it was? */
static bool is_still_there(const struct sym_table *t, const struct sym_job *job)
{
	struct sym_identity now;

	if (!file_of(job))
		return true;
	now = sym_identity_of(file_of(job));
	return t->ino && now.known && sym_identity_fits(&now, t);
}

/* Names than which the file can tell no better, and which it told. */
static int take_kept(void *arg)
{
	struct wanted_table *w = arg;
	int rc = load_kept(w->job, SYM_BEST - 1, &w->table);

	if (!rc && w->table && !is_still_there(w->table, w->job)) {
		sym_table_put(w->table);
		w->table = NULL;
	}
	return rc ? rc : !w->table;
}

int sym_server_load(struct sym_server *s, const struct sym_job *job,
		    const atomic_bool *cancel, struct sym_table **out, struct err *err)
{
	CLEANUP(wanted_table_fini) struct wanted_table w = { .job = job };
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(strbuf_fini) struct strbuf kept = { 0 };
	int rc;

	sym_kept_path(job, &kept);
	sym_request_load(job, &request);
	rc = sym_jobs_run(&s->jobs,
			  &(struct sym_call){ .request = &request,
					      .who = job->cred,
					      .take = take_table,
					      .arg = &w,
					      .cancel = cancel,
					      .again = true,
					      .form = &table_form,
					      .file = strbuf_str(&kept),
					      .about = file_of(job),
					      .take_file = take_kept },
			  &why, err);
	if (rc > 0)
		rc = broken_table(job, strbuf_str(&why), &w.table, err);
	if (!rc && sym_table_rank(w.table) < SYM_BEST &&
	    load_kept(job, sym_table_rank(w.table), &w.table))
		rc = err_errno(err, -ENOMEM, "kept symbols");
	if (!rc)
		*out = TAKE(w.table);
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
	rc = sym_jobs_run(&s->jobs,
			  &(struct sym_call){ .request = &request,
					      .who = viewer_cred(v),
					      .take = take_names,
					      .arg = &want,
					      .cancel = viewer_cancel(v),
					      .again = true },
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
	rc = sym_jobs_run(&s->jobs,
			  &(struct sym_call){ .request = &request,
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
	rc = sym_jobs_run(&s->jobs,
			  &(struct sym_call){ .request = &request,
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
	struct sym_call c = { .request = &request,
			      .who = cred,
			      .take = take_err,
			      .arg = &told,
			      .cancel = cancel,
			      .fd = &fd };
	int rc;

	sym_request_paths(SYM_REQUEST_OPEN, &path, 1, cred, &request);
	rc = sym_jobs_run(&s->jobs, &c, &why, err);
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
	rc = sym_jobs_run(&s->jobs,
			  &(struct sym_call){ .request = &request,
					      .who = job->cred,
					      .take = take_lines,
					      .arg = &want,
					      .cancel = cancel,
					      .again = true },
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
	int rc = sym_jobs_run(&s->jobs,
			      &(struct sym_call){ .request = request,
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
	rc = sym_jobs_run(&s->jobs,
			  &(struct sym_call){ .request = &request,
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
	rc = sym_jobs_run(&s->jobs,
			  &(struct sym_call){ .request = &request,
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
