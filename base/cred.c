/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cred.h"

#include <errno.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

int cred_take(const struct cred *cred, struct err *err)
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

static bool in_group(const struct cred *cred, gid_t gid)
{
	bool in = cred->gid == gid;

	for (size_t i = 0; i < cred->nr_groups && !in; i++)
		in = cred->groups[i] == gid;
	return in;
}

bool cred_allows(const struct cred *cred, const struct stat *st, mode_t want)
{
	if (!cred->uid)
		return true;
	if (st->st_uid == cred->uid)
		want <<= 6;
	else if (in_group(cred, st->st_gid))
		want <<= 3;
	return (st->st_mode & want) == want;
}

bool cred_is_other(const struct cred *cred)
{
	return cred && cred->uid != geteuid();
}

bool cred_is_own(const struct cred *cred)
{
	gid_t groups[64];
	int nr = getgroups(sizeof(groups) / sizeof(groups[0]), groups);

	return cred->uid == geteuid() && cred->gid == getegid() && nr >= 0 &&
	       cred->nr_groups == (size_t)nr &&
	       (!nr || !memcmp(cred->groups, groups, (size_t)nr * sizeof(*groups)));
}
