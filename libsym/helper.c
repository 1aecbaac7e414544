/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/cred.h"
#include "libsym/demangle.h"
#include "libsym/image.h"
#include "libsym/request.h"
#include "libsym/sandbox.h"
#include "libsym/wire.h"

static int read_all(int fd, void *data, size_t len)
{
	char *at = data;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ECONNRESET;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* @out: heap. */
static int read_request(void **out, size_t *len)
{
	struct sym_frame f;
	int rc = read_all(SYM_SANDBOX_FD, &f, sizeof(f));

	if (rc)
		return rc;
	if (f.magic != SYM_REQUEST_MAGIC || f.len > SYM_REQUEST_MAX)
		return -EBADMSG;
	*out = malloc(f.len + 1);
	*len = f.len;
	return *out ? read_all(SYM_SANDBOX_FD, *out, f.len) : -ENOMEM;
}

static void demangle_all(const struct sym_request *r, struct strbuf *out)
{
	const char *at = r->names, *end = r->names + r->names_len;
	uint32_t nr = 0;

	for (; at < end && nr < r->nr_names; at += strlen(at) + 1, nr++) {
		sym_demangle(at, (enum sym_demangle_style)r->style, out);
		strbuf_putc(out, '\0');
	}
}

static int answer(const struct sym_request *r, struct strbuf *out)
{
	struct sym_frame f = { .magic = SYM_ANSWER_MAGIC };
	int rc = 0;

	strbuf_add(out, &f, sizeof(f));
	if (r->kind == SYM_REQUEST_LOAD)
		rc = sym_table_encode(&r->job, out, NULL);
	else
		demangle_all(r, out);
	if (!rc)
		rc = strbuf_error(out);
	if (!rc && out->len - sizeof(f) > SYM_WIRE_MAX)
		rc = -EFBIG;
	if (rc)
		return rc;
	f.len = (uint32_t)(out->len - sizeof(f));
	memcpy(out->data, &f, sizeof(f));
	return file_write_all(SYM_SANDBOX_FD, out->data, out->len);
}

/* A request decides whose rights are taken, but it comes from the parent: trusted. */
static int serve(pid_t parent, unsigned cpu_seconds)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	CLEANUP(free_ptr) void *data = NULL;
	struct sym_request r;
	size_t len = 0;
	int rc = sym_sandbox_limit(cpu_seconds, NULL);

	if (!rc)
		rc = read_request(&data, &len);
	if (!rc)
		rc = sym_request_parse(data, len, &r, NULL);
	if (!rc)
		rc = sym_cred_take(r.kind == SYM_REQUEST_LOAD ? r.job.cred : NULL, NULL);
	/* after taking other rights, which forgets it */
	if (!rc && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		rc = -errno;
	if (!rc && getppid() != parent)
		rc = -ESRCH;
	if (!rc)
		rc = sym_sandbox_enter(NULL);
	return rc ? rc : answer(&r, &out);
}

void sym_helper_child(int fd, pid_t parent, unsigned cpu_seconds)
{
	sigset_t none;
	int rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd != SYM_SANDBOX_FD && dup2(fd, SYM_SANDBOX_FD) < 0)
		_exit(SYM_HELPER_FAILED);
	close(0);
	close(1);
	close_range(SYM_SANDBOX_FD + 1, ~0u, 0);
	rc = serve(parent, cpu_seconds);
	_exit(rc == -ENOMEM  ? SYM_HELPER_NO_MEMORY
	      : rc == -EFBIG ? SYM_HELPER_TOO_BIG
	      : rc           ? SYM_HELPER_FAILED
			     : 0);
}
