/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/resolve.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "libsym/file/walk.h"

void sym_resolved_fini(struct sym_resolved *r)
{
	strbuf_fini(&r->to);
	r->is_dir = false;
}

int sym_resolve_encode(const char *path, const struct cred *cred, struct strbuf *out,
		       struct err *err)
{
	CLEANUP(sym_walk_fini) struct sym_walk w = SYM_WALK_INIT(.cred = cred);
	int rc = sym_walk(&w, path);

	strbuf_putc(out, (char)(!rc && S_ISDIR(w.at.mode)));
	if (w.links && strcmp(strbuf_str(&w.real), path) != 0)
		strbuf_puts(out, strbuf_str(&w.real));
	return rc == -ENOMEM ? err_errno(err, rc, "%s", path) : 0;
}

int sym_resolve_decode(const void *data, size_t len, struct sym_resolved *out,
		       struct err *err)
{
	const char *text = data;

	if (!len || memchr(text + 1, '\0', len - 1) || (len > 1 && text[1] != '/'))
		return err_set(err, -EBADMSG, "symbol helper: resolving failed");
	out->is_dir = text[0];
	strbuf_add(&out->to, text + 1, len - 1);
	return strbuf_error(&out->to) ? err_errno(err, -ENOMEM, "resolving") : 0;
}
