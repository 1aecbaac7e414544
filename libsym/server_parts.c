/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked for when a report shows more than symbols: lines, code, sources. */
#include "libsym/server.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libsym/disasm_wire.h"
#include "libsym/lines_wire.h"
#include "libsym/request.h"
#include "libsym/server_run.h"
#include "libsym/source_wire.h"

static const char *broken(const char *name, struct strbuf *why, struct strbuf *reason)
{
	strbuf_printf(reason, "%s: cannot be read: %s", name, strbuf_str(why));
	return strbuf_str(reason);
}

static int take_lines(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_lines_decode(data, len, arg, err);
}

int sym_server_lines(struct sym_server *s, const struct sym_job *job,
		     const struct sym_range *ranges, size_t nr, unsigned flags,
		     const atomic_bool *cancel, struct sym_lines **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(strbuf_fini) struct strbuf reason = { 0 };
	struct sym_parts parts = { .ranges = ranges, .nr = nr, .flags = flags };
	int rc;

	sym_request_parts(SYM_REQUEST_LINES, job, &parts, &request);
	rc = sym_server_run(s, &request, take_lines, out, cancel, &why, err);
	return rc <= 0 ? rc
		       : sym_lines_none(SYM_BROKEN,
					broken(sym_job_name(job), &why, &reason), out,
					err);
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
	rc = sym_server_run(s, &request, take_disasm, out, cancel, &why, err);
	return rc <= 0 ? rc
		       : sym_disasm_none(SYM_BROKEN,
					 broken(sym_job_name(job), &why, &reason), out,
					 err);
}

static int take_source(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_source_decode(data, len, arg, err);
}

int sym_server_source(struct sym_server *s, const char *const *paths, size_t nr,
		      const struct sym_cred *cred, const atomic_bool *cancel,
		      struct sym_text **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	CLEANUP(strbuf_fini) struct strbuf reason = { 0 };
	int rc;

	sym_request_source(paths, nr, cred, &request);
	rc = sym_server_run(s, &request, take_source, out, cancel, &why, err);
	return rc <= 0 ? rc
		       : sym_source_none(
				 SYM_BROKEN,
				 broken(nr ? paths[0] : "source file", &why, &reason),
				 out, err);
}
