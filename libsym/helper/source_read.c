/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/helper/source_read.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/file/open.h"
#include "libsym/wire/source_wire.h"

enum { CHUNK = 32 * 1024 };

/* The reason given if no path gives a file: rather that of a file which exists. */
struct refusal {
	enum sym_state state;
	struct strbuf reason;
};

static void say(struct refusal *r, enum sym_state state, const char *text)
{
	r->state = state;
	strbuf_reset(&r->reason);
	strbuf_puts(&r->reason, text);
}

static int read_all(int fd, struct strbuf *data)
{
	char piece[CHUNK];
	ssize_t n = 1;

	while (n > 0 && data->len <= SYM_SOURCE_MAX && !strbuf_error(data)) {
		n = file_pread_all(fd, piece, sizeof(piece), (off_t)data->len);
		if (n > 0)
			strbuf_add(data, piece, (size_t)n);
	}
	return n < 0 ? (int)n : strbuf_error(data);
}

static int read_file(int fd, const char *path, struct refusal *r, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf data = { 0 };
	struct err e = { 0 };
	struct stat st;
	int rc = fstat(fd, &st) ? -errno : read_all(fd, &data);

	if (rc == -ENOMEM)
		return rc;
	if (rc) {
		err_errno(&e, rc, "%s", path);
		say(r, SYM_UNREADABLE, e.msg);
	} else if (data.len > SYM_SOURCE_MAX) {
		err_set(&e, -EFBIG, "%s: is larger than %u MiB", path,
			SYM_SOURCE_MAX >> 20);
		say(r, SYM_BROKEN, e.msg);
	} else {
		struct sym_text s = { .state = SYM_OK,
				      .reason = "",
				      .path = path,
				      .data = strbuf_str(&data),
				      .len = data.len,
				      .mtime = st.st_mtime };

		r->state = SYM_OK;
		return sym_source_pack(&s, out);
	}
	return 0;
}

static void refusal_fini(struct refusal *r)
{
	strbuf_fini(&r->reason);
}

int sym_source_encode(const char *paths, size_t len, const struct cred *cred,
		      struct strbuf *out, struct err *err)
{
	CLEANUP(refusal_fini) struct refusal r = { .state = SYM_MISSING };
	struct sym_text none = { .path = "", .data = "" };
	const char *at = paths;
	int rc;

	strbuf_puts(&r.reason, "no path of a source file");
	for (; at < paths + len; at += strlen(at) + 1) {
		CLEANUP(close_fd) int fd = -1;
		struct err e = { 0 };
		bool hidden;

		fd = sym_open(at, cred, &e);
		if (fd >= 0) {
			rc = read_file(fd, at, &r, out);
			if (rc || r.state == SYM_OK)
				return rc ? err_errno(err, rc, "%s", at) : 0;
			break;
		}
		hidden = e.code == -EACCES || e.code == -EXDEV;
		if (at == paths || (r.state == SYM_MISSING && hidden))
			say(&r, hidden ? SYM_UNREADABLE : SYM_MISSING, e.msg);
		if (e.code == -EACCES && sym_is_regular(at, cred)) {
			say(&r, SYM_UNREADABLE, e.msg);
			break;
		}
	}
	none.state = r.state;
	none.reason = strbuf_str(&r.reason);
	rc = strbuf_error(&r.reason) ? -ENOMEM : sym_source_pack(&none, out);
	return rc ? err_errno(err, rc, "source file") : 0;
}
