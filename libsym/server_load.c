/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/server.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libsym/build.h"
#include "libsym/request.h"
#include "libsym/server_run.h"
#include "libsym/wire.h"

const char *sym_job_name(const struct sym_job *job)
{
	if (job->path && *job->path)
		return job->path;
	if (job->name && *job->name)
		return job->name;
	return job->kind == SYM_VDSO ? "[vdso]" : "kernel symbols";
}

/* A table that says why there is none. */
static int broken_table(const struct sym_job *job, const char *why,
			struct sym_table **out, struct err *err)
{
	CLEANUP(sym_build_fini) struct sym_build b = { 0 };
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	const char *name = sym_job_name(job);
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

int sym_server_load(struct sym_server *s, const struct sym_job *job,
		    const atomic_bool *cancel, struct sym_table **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	int rc;

	sym_request_load(job, &request);
	rc = sym_server_run(s, &request, take_table, out, cancel, &why, err);
	return rc <= 0 ? rc : broken_table(job, strbuf_str(&why), out, err);
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
			enum sym_demangle_style style, const atomic_bool *cancel,
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
	rc = sym_server_run(s, &request, take_names, &want, cancel, &why, err);
	return rc <= 0 ? rc
		       : err_set(err, -EBADMSG, "demangling %zu names: %s", nr,
				 strbuf_str(&why));
}
