/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/helper/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/box/pass.h"
#include "base/box/sandbox.h"
#include "base/cleanup.h"
#include "base/cred.h"
#include "base/file.h"
#include "libsym/code/disasm.h"
#include "libsym/dwarf/lines.h"
#include "libsym/file/find.h"
#include "libsym/file/open.h"
#include "libsym/file/resolve.h"
#include "libsym/file/seen.h"
#include "libsym/helper/image.h"
#include "libsym/helper/source_read.h"
#include "libsym/table/demangle.h"
#include "libsym/wire/disasm_wire.h"
#include "libsym/wire/request.h"
#include "libsym/wire/wire.h"

static int read_all(int fd, void *data, size_t len)
{
	ssize_t n = file_read_all(fd, data, len);

	return n < 0 ? (int)n : n < (ssize_t)len ? -ECONNRESET : 0;
}

/* @out: heap. */
static int read_request(void **out, size_t *len)
{
	struct sym_frame f;
	int rc = read_all(BOX_FD, &f, sizeof(f));

	if (rc)
		return rc;
	if (f.magic != SYM_REQUEST_MAGIC || f.len > SYM_REQUEST_MAX)
		return -EBADMSG;
	*out = malloc(f.len + 1);
	*len = f.len;
	return *out ? read_all(BOX_FD, *out, f.len) : -ENOMEM;
}

static int load(const struct sym_request *r, struct strbuf *out, struct err *err)
{
	return sym_table_encode(&r->job, out, err);
}

static int demangle(const struct sym_request *r, struct strbuf *out, struct err *err)
{
	const char *at = r->names, *end = r->names + r->names_len;
	uint32_t nr = 0;

	(void)err;
	for (; at < end && nr < r->nr_names; at += strlen(at) + 1, nr++) {
		sym_demangle(at, (enum sym_demangle_style)r->style, out);
		strbuf_putc(out, '\0');
	}
	return 0;
}

static int lines(const struct sym_request *r, struct strbuf *out, struct err *err)
{
	return sym_lines_encode(&r->job, r->parts.ranges, r->parts.nr, r->parts.flags,
				out, err);
}

static int disasm(const struct sym_request *r, struct strbuf *out, struct err *err)
{
	return sym_disasm_encode(&r->job, r->parts.ranges, r->parts.nr, r->parts.options,
				 out, err);
}

static int source(const struct sym_request *r, struct strbuf *out, struct err *err)
{
	return sym_source_encode(r->names, r->names_len, r->who, out, err);
}

static int find(const struct sym_request *r, struct strbuf *out, struct err *err)
{
	return sym_find_encode(r->names, r->names_len, r->nr_dirs, out, err);
}

static int resolve(const struct sym_request *r, struct strbuf *out, struct err *err)
{
	return sym_resolve_encode(r->names_len ? r->names : "", r->who, out, err);
}

static int (*const works[SYM_NR_REQUESTS])(const struct sym_request *, struct strbuf *,
					   struct err *) = {
	[SYM_REQUEST_LOAD] = load,       [SYM_REQUEST_DEMANGLE] = demangle,
	[SYM_REQUEST_LINES] = lines,     [SYM_REQUEST_DISASM] = disasm,
	[SYM_REQUEST_SOURCE] = source,   [SYM_REQUEST_FIND] = find,
	[SYM_REQUEST_RESOLVE] = resolve,
};

static int send_answer(struct strbuf *out, const struct strbuf *seen)
{
	struct sym_frame f = { .magic = SYM_ANSWER_MAGIC };

	if (strbuf_error(out))
		return -ENOMEM;
	if (out->len - sizeof(f) > SYM_WIRE_MAX)
		return -EFBIG;
	f.len = (uint32_t)(out->len - sizeof(f));
	if (!strbuf_error(seen)) {
		f.listed = true;
		f.seen = (uint32_t)seen->len;
		strbuf_add(out, seen->data, seen->len);
		if (strbuf_error(out))
			return -ENOMEM;
	}
	memcpy(out->data, &f, sizeof(f));
	return file_write_all(BOX_FD, out->data, out->len);
}

/* A request that cannot be met is answered with the reason. */
static int answer(const struct sym_request *r, struct strbuf *out,
		  const struct strbuf *seen)
{
	struct sym_frame f = { .magic = SYM_ANSWER_MAGIC };
	struct err err = { 0 };
	int rc, sent;

	strbuf_add(out, &f, sizeof(f));
	rc = works[r->kind](r, out, &err);
	if (rc && rc != -EINVAL)
		return rc;
	if (rc) {
		strbuf_truncate(out, sizeof(f));
		strbuf_puts(out, err.msg);
	}
	sent = send_answer(out, seen);
	return sent ? sent : rc;
}

/*
 * Opens a file and passes it on: before the sandbox, which lets no descriptor out.  All
 * that is read of the request is a path.
 */
static int pass_file(const struct sym_request *r)
{
	struct {
		struct sym_frame f;
		struct err err; /* its code: 0, or why there is no file */
	} a = { .f = { .magic = SYM_ANSWER_MAGIC, .len = sizeof(a.err) } };
	CLEANUP(close_fd)
	int fd = sym_open_kernel(r->names_len ? r->names : "", r->who, &a.err);
	ssize_t n = box_pass_send(BOX_FD, &a, sizeof(a), fd);

	return n == (ssize_t)sizeof(a) ? 0 : -EIO;
}

/*
 * The request says whose rights are taken on; it is trusted, for it comes from the
 * parent.
 */
static int serve(pid_t parent, unsigned cpu_seconds)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	CLEANUP(strbuf_fini) struct strbuf seen = { 0 };
	CLEANUP(free_ptr) void *data = NULL;
	CLEANUP(sym_request_fini) struct sym_request r = { 0 };
	CLEANUP(close_fd) int at = -1;
	size_t len = 0;
	int rc = sandbox_limit(cpu_seconds, NULL);

	if (!rc)
		rc = read_request(&data, &len);
	if (!rc)
		rc = sym_request_parse(data, len, &r, NULL);
	if (!rc)
		rc = cred_take(r.who, NULL);
	/* after taking on other rights, which resets it */
	if (!rc && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		rc = -errno;
	if (!rc && getppid() != parent)
		rc = -ESRCH;
	sym_seen_begin(&seen);
	if (!rc && r.job.at) {
		at = sym_open_at(&r.job);
		r.job.opened = &at;
	}
	if (!rc && r.kind == SYM_REQUEST_OPEN)
		return pass_file(&r);
	if (!rc)
		rc = sandbox_enter(NULL);
	if (!rc)
		rc = answer(&r, &out, &seen);
	sym_seen_begin(NULL);
	return rc;
}

static int prepare(void)
{
	return sandbox_prepare(NULL);
}

static int job(pid_t box, const struct box_limits *limits)
{
	int rc = serve(box, limits->cpu_s);

	return rc == -ENOMEM   ? SYM_HELPER_NO_MEMORY
	       : rc == -EFBIG  ? SYM_HELPER_TOO_BIG
	       : rc == -EINVAL ? SYM_HELPER_REFUSED
	       : rc            ? SYM_HELPER_FAILED
			       : 0;
}

const struct box_kind sym_helper_box = {
	.name = "opfs-symbols",
	.prepare = prepare,
	.job = job,
};
