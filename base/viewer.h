/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_VIEWER_H
#define BASE_VIEWER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cred.h"
#include "base/strbuf.h"

/*
 * The user who asks, and whether he still waits.  Binaries are opened with the rights
 * of the viewer, and what was made for one user is never shown to another.  NULL is this
 * process, which waits for ever.
 */
struct viewer {
	struct cred cred;
	const atomic_bool *cancel; /* set once nobody waits any more; may be NULL */
	bool quick; /* wants -EAGAIN instead of an answer that takes time */
};

/* Long work polls this. */
static inline bool is_cancelled(const atomic_bool *cancel)
{
	return cancel && atomic_load_explicit(cancel, memory_order_relaxed);
}

static inline const atomic_bool *viewer_cancel(const struct viewer *v)
{
	return v ? v->cancel : NULL;
}

static inline bool viewer_quick(const struct viewer *v)
{
	return v && v->quick;
}

static inline bool viewer_gone(const struct viewer *v)
{
	return is_cancelled(viewer_cancel(v));
}

/* Appends what tells users with different rights apart. */
static inline void viewer_key(const struct viewer *v, struct strbuf *key)
{
	uint32_t who[2] = { v ? v->cred.uid : 0, v ? v->cred.gid : 0 };

	strbuf_add(key, who, sizeof(who));
	if (v)
		strbuf_add(key, v->cred.groups,
			   v->cred.nr_groups * sizeof(*v->cred.groups));
	strbuf_putc(key, ';');
}

static inline const struct cred *viewer_cred(const struct viewer *v)
{
	return v ? &v->cred : NULL;
}

#endif
