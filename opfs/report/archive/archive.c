/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/archive/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"

int archive_no_memory(struct archive *a)
{
	return report_no_memory(a->err);
}

int archive_left_out(struct archive *a, const char *what, const char *why)
{
	size_t len = strlen(what);

	escape_add(&a->left_out, what, len, escape_plain_field);
	strbuf_putc(&a->left_out, '\t');
	if (!strncmp(why, what, len) && !strncmp(why + len, ": ", 2))
		why += len + 2;
	escape_add(&a->left_out, why, strlen(why), escape_plain_field);
	strbuf_putc(&a->left_out, '\n');
	return 0;
}

int archive_try_file(struct archive *a, const char *name, bool executable, int dirfd,
		     const char *path, const struct tar_want *want)
{
	const struct tar_info info = { .name = name, .executable = executable };
	struct err why = { 0 };
	int rc;

	if (tar_has(a->t, name))
		return 0;
	rc = tar_add_file(a->t, &info, dirfd, path, want, &why);
	if (rc == -ENOMEM)
		return archive_no_memory(a);
	return rc ? archive_left_out(a, path, why.msg) : 0;
}

/*
 * Whatever an archive takes from the machine, a helper opens: who asks could read it by
 * its path.  What a binary of somebody names as its source, root's archive has only if
 * users without any rights could read it, for it is given away.
 */
int archive_open(void *ctx, const char *path, bool for_all, struct err *err)
{
	static const struct cred nobody = { .uid = 65534, .gid = 65534 };
	const struct archive *a = ctx;
	bool open_to_all = for_all && !a->who.uid && !geteuid();
	int fd = sym_server_open(a->server, path, open_to_all ? &nobody : &a->who, NULL,
				 err);

	return open_to_all && fd == -EACCES ? err_set(err, fd, TAR_NOT_FOR_ALL, path)
					    : fd;
}

int archive_try_own(struct archive *a, const char *name)
{
	const struct tar_want any = { 0 };

	if (faccessat(a->session_dir, name, F_OK, AT_SYMLINK_NOFOLLOW))
		return 0;
	return archive_try_file(a, name, false, a->session_dir, name, &any);
}
