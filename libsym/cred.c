/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/cred.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sym_cred_take(const struct sym_cred *cred, struct err *err)
{
	if (!cred || geteuid())
		return 0;
	if (setgroups(cred->nr_groups, cred->groups) ||
	    setresgid(cred->gid, cred->gid, cred->gid) ||
	    setresuid(cred->uid, cred->uid, cred->uid))
		return err_errno(err, -errno, "taking the rights of user %u",
				 (unsigned)cred->uid);
	return 0;
}

static bool in_group(const struct sym_cred *cred, gid_t gid)
{
	bool in = cred->gid == gid;

	for (size_t i = 0; i < cred->nr_groups && !in; i++)
		in = cred->groups[i] == gid;
	return in;
}

/* @want: 4 to read, 1 to search a directory. */
static bool allows(const struct sym_cred *cred, const struct stat *st, unsigned want)
{
	unsigned shift = 0;

	if (!cred->uid)
		return true;
	if (st->st_uid == cred->uid)
		shift = 6;
	else if (in_group(cred, st->st_gid))
		shift = 3;
	return (st->st_mode >> shift & want) == want;
}

bool sym_cred_may_read(const struct sym_cred *cred, int fd)
{
	char self[32], path[PATH_MAX];
	struct stat st;
	char *slash;
	ssize_t len;

	if (!cred || cred->uid == geteuid())
		return true;
	if (fstat(fd, &st) || !allows(cred, &st, 4))
		return false;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	len = readlink(self, path, sizeof(path));
	if (len <= 0 || len >= (ssize_t)sizeof(path) || path[0] != '/')
		return false;
	path[len] = '\0';
	while ((slash = strrchr(path, '/'))) {
		*slash = '\0';
		if (stat(slash == path ? "/" : path, &st) || !allows(cred, &st, 1))
			return false;
	}
	return true;
}
