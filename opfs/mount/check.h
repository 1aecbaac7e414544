/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_MOUNT_CHECK_H
#define OPFS_MOUNT_CHECK_H

#include "base/err.h"

/* Finds out why a mount would fail before it is tried. */

/* /dev/fuse is there and may be opened, or fusermount3 may do so. */
int mount_check_device(struct err *err);

/**
 * mount_check_point - is this a directory to mount on?
 * Says so if a mount of opfs is there already, alive or left behind by a killed one.
 */
int mount_check_point(const char *path, struct err *err);

/**
 * mount_check_session - is this a directory that can be read?
 * Returns 0 and its absolute path (heap) in @out.
 */
int mount_check_session(const char *path, char **out, struct err *err);

/* Would a mount at @point (absolute) hide the sessions of @session_dir (absolute)?  It
 * would then wait for itself. */
int mount_check_apart(const char *point, const char *session_dir, struct err *err);

#endif
