/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_NOTIFY_H
#define OPFS_MOUNT_NOTIFY_H

#include <stdbool.h>

#include "base/err.h"

/* A thread that watches which sessions a session directory holds. */
struct notify;

/**
 * notify_start - starts to watch
 * @session_dir: sessions are directories of samples/ in it, which may be absent yet
 * @changed: called by the thread for each session that appeared, vanished or was renamed,
 *	or, with @same, got other permissions or times; @name NULL: any session may have
 */
int notify_start(const char *session_dir,
		 void (*changed)(void *ctx, const char *name, bool same), void *ctx,
		 struct notify **out, struct err *err);
/* Ends the thread, and waits up to two seconds for it.  False: it is still running, and
 * what @changed uses must stay. */
bool notify_stop(struct notify *n);

#endif
