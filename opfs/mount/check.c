/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/check.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "opfs/cli/mounted.h"

#define DEVICE "/dev/fuse"
#define WITHOUT "; \"opfs cat PATH\" shows the same without a mount"

static bool has_fusermount(void)
{
	static const char *const paths[] = { "/usr/bin/fusermount3", "/bin/fusermount3",
					     "/usr/local/bin/fusermount3" };

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!access(paths[i], X_OK))
			return true;
	return false;
}

int mount_check_device(struct err *err)
{
	CLEANUP(close_fd) int fd = open(DEVICE, O_RDWR | O_CLOEXEC);
	int rc = fd < 0 ? -errno : 0;

	switch (-rc) {
	case 0:
		break;
	case ENOENT:
	case ENODEV:
	case ENXIO:
		return err_errno(
			err, rc,
			DEVICE
			": no FUSE here: load it with \"modprobe fuse\"; a container "
			"needs --device " DEVICE " --cap-add SYS_ADMIN" WITHOUT);
	case EACCES:
	case EPERM:
		return err_errno(
			err, rc,
			DEVICE " may not be opened by user %u: let everybody use it with "
			       "\"chmod 666 " DEVICE
			       "\", as systems with udev do, or mount as root" WITHOUT,
			(unsigned)geteuid());
	default:
		return err_errno(err, rc, DEVICE);
	}
	if (geteuid() && !has_fusermount())
		return err_set(
			err, -ENOENT,
			"there is no fusermount3, which mounts for users other than "
			"root: install the package fuse3, or mount as root" WITHOUT);
	return 0;
}

static bool is_mounted(const char *path)
{
	CLEANUP(mounted_fini) struct mounted_list list = { 0 };

	return !mounted_read(&list) && mounted_at(&list, path);
}

/*
 * The absolute path of a directory, without asking the directory itself, which may be a
 * dead mount.  Heap, or NULL.
 */
static char *absolute(const char *path)
{
	CLEANUP(free_ptr) char *copy = strdup(path);
	CLEANUP(free_ptr) char *parent = NULL;
	struct strbuf full = { 0 };
	char *slash, *whole = realpath(path, NULL);

	if (whole || !copy)
		return whole;
	for (slash = copy + strlen(copy); slash > copy && slash[-1] == '/';)
		*--slash = '\0';
	slash = strrchr(copy, '/');
	if (slash)
		*slash = '\0';
	parent = realpath(!slash ? "." : *copy ? copy : "/", NULL);
	if (!parent)
		return NULL;
	strbuf_printf(&full, "%s/%s", strcmp(parent, "/") ? parent : "",
		      slash ? slash + 1 : copy);
	return strbuf_take(&full);
}

static int missing(const char *path, int rc, struct err *err)
{
	switch (-rc) {
	case ENOENT:
		return err_set(err, rc,
			       "%s: there is no such directory to mount on: make it with "
			       "\"mkdir -p %s\"",
			       path, path);
	case ENOTCONN:
		return err_set(err, rc,
			       "%s: what was mounted here was killed and left its mount "
			       "behind: take it away with \"fusermount3 -u %s\" or "
			       "\"umount -l %s\", then mount again",
			       path, path, path);
	case EACCES:
		return err_errno(err, rc, "%s: user %u may not mount here", path,
				 (unsigned)geteuid());
	default:
		return err_errno(err, rc, "%s: cannot be mounted on", path);
	}
}

/* The kernel may have cached what stat() shows of a dead mount: ask its server. */
static int probe(const char *path)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 && errno == ENOTCONN ? -ENOTCONN : -EBUSY;
}

/* Who exchanges the two directories would hide sessions, and see none. */
static int has_samples(const char *path, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf samples = { 0 };
	struct stat st;

	strbuf_printf(&samples, "%s/samples", path);
	if (strbuf_error(&samples))
		return err_set(err, -ENOMEM, "out of memory");
	if (stat(strbuf_str(&samples), &st))
		return 0;
	return err_set(err, -EBUSY,
		       "%s: this is a session directory, which a mount would hide: "
		       "mount on another, as in \"opfs mount SESSION_DIR ~/opfs\"",
		       path);
}

int mount_check_point(const char *path, struct err *err)
{
	CLEANUP(free_ptr) char *full = absolute(path);
	struct stat st;
	int rc = stat(path, &st) ? -errno : 0;

	if (!rc && full && is_mounted(full))
		rc = probe(path);
	if (rc == -EBUSY || (rc == -EACCES && full && is_mounted(full)))
		return err_set(
			err, -EBUSY,
			"%s: an opfs is mounted here already: use it, or take it away "
			"with \"fusermount3 -u %s\"",
			path, path);
	if (rc)
		return missing(path, rc, err);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR,
			       "%s: not a directory, so nothing can be mounted here",
			       path);
	return has_samples(path, err);
}

int mount_check_session(const char *path, char **out, struct err *err)
{
	CLEANUP(free_ptr) char *full = realpath(path, NULL);
	CLEANUP(close_fd) int fd = -1;
	int rc = 0;

	if (full)
		fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		rc = -errno;
	switch (-rc) {
	case 0:
		if (is_mounted(full))
			return err_set(err, -EINVAL,
				       "%s: an opfs is mounted here: name the session "
				       "directory that it shows, or another one",
				       path);
		*out = TAKE(full);
		return 0;
	case ENOENT:
		return err_set(err, rc,
			       "%s: there is no such session directory: record one with "
			       "\"opcollect record -- COMMAND\", or name it with "
			       "--session-dir DIR or -o session=DIR",
			       path);
	case ENOTDIR:
		return err_set(
			err, rc,
			"%s: not a directory, so no session directory: name one with "
			"--session-dir DIR or -o session=DIR",
			path);
	case EACCES:
		return err_errno(
			err, rc,
			"%s: user %u may not read this session directory: mount as its "
			"owner or as root, or give access with chmod",
			path, (unsigned)geteuid());
	default:
		return err_errno(err, rc, "%s: cannot read the session directory", path);
	}
}

int mount_check_apart(const char *point, const char *session_dir, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	CLEANUP(free_ptr) char *samples = NULL;

	strbuf_printf(&path, "%s/samples", session_dir);
	if (strbuf_error(&path))
		return err_set(err, -ENOMEM, "out of memory");
	samples = realpath(path.data, NULL); /* may be a link, or not there yet */
	if (!file_is_below(session_dir, point) &&
	    !(samples && file_is_below(samples, point)) &&
	    !file_is_below(point, samples ? samples : path.data))
		return 0;
	return err_set(err, -EBUSY,
		       "%s: a mount here would hide the sessions of %s, which it shows: "
		       "mount on a directory of its own, as with \"mkdir -p ~/opfs\"",
		       point, session_dir);
}
