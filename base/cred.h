/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CRED_H
#define BASE_CRED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/err.h"

/* A user, as the kernel checks permissions. */
struct cred {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary; borrowed */
	size_t nr_groups;
};

/* Takes the rights of @cred for good if this process is root; otherwise does nothing. */
int cred_take(const struct cred *cred, struct err *err);

/* Does the mode of a file give @cred the rights @want, which are S_IROTH and the like?
 * Access lists are not looked at. */
bool cred_allows(const struct cred *cred, const struct stat *st, mode_t want);

/* Somebody else than the user of this process, which could not take his rights then:
 * cred_allows() has to decide, for a file and all directories above it. */
bool cred_is_other(const struct cred *cred);
/* Exactly the user, group and groups of this process; false as well if it has more than
 * 64 groups. */
bool cred_is_own(const struct cred *cred);

#endif
