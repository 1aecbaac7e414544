/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_VIEWER_H
#define OPFS_VIEWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Who asks, and whether he still waits.  Binaries are opened with the rights of the
 * viewer, and what was made for one user is never shown to another.
 */
struct viewer {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary; borrowed for the call */
	size_t nr_groups;
	const atomic_bool *cancel; /* set when nobody waits any more; may be NULL */
};

static inline bool viewer_gone(const struct viewer *v)
{
	return v && v->cancel && atomic_load_explicit(v->cancel, memory_order_relaxed);
}

#endif
