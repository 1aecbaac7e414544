/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/cleanup.h"
#include "libsym/find.h"
#include "libsym/request.h"
#include "libsym/server_run.h"

static int take_paths(void *arg, const void *data, size_t len, struct err *err)
{
	return sym_find_decode(data, len, arg, err);
}

int sym_server_find(struct sym_server *s, const struct sym_wanted *w,
		    const struct sym_cred *cred, const atomic_bool *cancel,
		    struct sym_found **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf request = { 0 };
	CLEANUP(strbuf_fini) struct strbuf why = { 0 };
	int rc;

	sym_request_find(w, cred, &request);
	rc = sym_server_run(s, &request, take_paths, out, cancel, &why, err);
	return rc <= 0 ? rc
		       : err_set(err, -EIO, "looking for binaries in %s: %s",
				 w->nr_dirs ? w->dirs[0] : "no directory",
				 strbuf_str(&why));
}
