/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/symbols_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/dirlist.h"
#include "base/file.h"
#include "base/lockfile.h"
#include "libspec/session/images.h"
#include "libspec/session/session.h"
#include "libsym/wire/kept.h"

#define LOCK_NAME ".lock"
enum { MAX_PASSES = 100 }; /* over sessions that are being renamed */

/* What is to be removed, of a session directory; see collector/daemon/keeper.c. */
#define GONE_PREFIX ".gone."

static int open_below(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* As visible as the sessions are. */
static int make(int session_dir, struct err *err)
{
	struct stat st;

	if (fstatat(session_dir, "samples", &st, 0))
		return err_errno(err, -errno, "samples");
	if (mkdirat(session_dir, SPEC_SYMBOLS_DIR, st.st_mode & 0777) && errno != EEXIST)
		return err_errno(err, -errno, SPEC_SYMBOLS_DIR);
	return 0;
}

static int lock(struct symbols_dir *d, struct err *err)
{
	d->lock = lockfile_take(d->fd, LOCK_NAME, true, NULL, err);
	return d->lock < 0 ? err_add(err, d->lock, SPEC_SYMBOLS_DIR) : 0;
}

int symbols_dir_open(struct symbols_dir *d, int session_dir, uint64_t limit,
		     struct err *err)
{
	int rc = make(session_dir, err);

	if (rc)
		return rc;
	d->session_dir = session_dir;
	d->limit = limit;
	d->fd = open_below(session_dir, SPEC_SYMBOLS_DIR);
	return d->fd < 0 ? err_errno(err, d->fd, SPEC_SYMBOLS_DIR) : lock(d, err);
}

void symbols_dir_close(struct symbols_dir *d)
{
	close_fd(&d->lock);
	close_fd(&d->fd);
}

/* ---- what is needed */

static int add_rows(const struct spec_images *images, struct names *needed)
{
	for (size_t i = 0; i < images->nr; i++) {
		const struct spec_image_row *row = &images->rows[i];
		const struct sym_job job = { .path = row->real_path,
					     .build_id = row->build_id,
					     .mtime = (int64_t)row->mtime,
					     .inode = spec_image_container(row)
							      ? row->inode
							      : 0 };
		char name[SYM_KEPT_NAME];

		if (sym_kept_name(&job, name) && names_add(needed, name))
			return -ENOMEM;
	}
	return 0;
}

/* -ENOENT: it is there no more. */
static int add_session(int samples, const char *session, struct names *needed,
		       struct err *err)
{
	CLEANUP(close_fd) int fd = open_below(samples, session);
	CLEANUP(spec_images_fini) struct spec_images images = { 0 };
	int rc;

	if (fd == -ENOTDIR || fd == -ELOOP) /* no session */
		return 0;
	rc = fd < 0 ? err_errno(err, fd, "%s", session)
		    : spec_images_read(fd, &images, err);
	if (!rc && add_rows(&images, needed))
		rc = err_errno(err, -ENOMEM, "%s", session);
	return rc;
}

/* Also of sessions that have no name yet: a rotation is under way.  @moved: one has gone,
 * or come, meanwhile; it may be one that was renamed and was not seen under any name. */
static int add_sessions(int samples, struct names *needed, bool *moved, struct err *err)
{
	CLEANUP(names_fini) struct names sessions = { 0 }, after = { 0 };
	int rc = dirlist_read(samples, &sessions);

	*moved = false;
	if (rc)
		return err_errno(err, rc, "samples");
	for (size_t i = 0; i < sessions.len && !rc; i++) {
		if (!strncmp(sessions.data[i], GONE_PREFIX, strlen(GONE_PREFIX)))
			continue;
		rc = add_session(samples, sessions.data[i], needed, err);
		*moved = *moved || rc == -ENOENT;
		rc = rc == -ENOENT ? 0 : rc;
	}
	if (rc)
		return rc;
	rc = dirlist_read(samples, &after);
	for (size_t i = 0; i < after.len; i++)
		*moved = *moved || !names_has(&sessions, after.data[i]);
	return rc ? err_errno(err, rc, "samples") : 0;
}

static int list_needed(const struct symbols_dir *d, struct names *needed, struct err *err)
{
	CLEANUP(close_fd) int samples = open_below(d->session_dir, "samples");
	bool moved = true;
	int rc = samples < 0 ? err_errno(err, samples, "samples") : 0;

	for (int i = 0; i < MAX_PASSES && moved && !rc; i++)
		rc = add_sessions(samples, needed, &moved, err);
	names_sort(needed);
	return rc || !moved ? rc
			    : err_set(err, -EBUSY,
				      "samples: sessions are being renamed all the time: "
				      "try again later");
}

static bool is_needed(const struct names *needed, const char *name)
{
	return !strcmp(name, LOCK_NAME) || (name[0] != '.' && names_has(needed, name));
}

int symbols_dir_prune(struct symbols_dir *d, unsigned *removed, struct err *err)
{
	CLEANUP(names_fini) struct names needed = { 0 }, all = { 0 };
	int rc = list_needed(d, &needed, err);
	struct stat st;

	*removed = 0;
	d->bytes = 0;
	if (rc)
		return rc;
	rc = dirlist_read(d->fd, &all);
	for (size_t i = 0; i < all.len && !rc; i++) {
		const char *name = all.data[i];

		if (is_needed(&needed, name)) {
			if (!fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW))
				d->bytes += (uint64_t)st.st_size;
		} else if (unlinkat(d->fd, name, 0)) {
			rc = -errno;
		} else {
			++*removed;
		}
	}
	return rc ? err_errno(err, rc, SPEC_SYMBOLS_DIR) : 0;
}

/* Samples need the disk more than names do. */
static bool leaves_room(const struct symbols_dir *d, size_t len)
{
	struct statvfs fs;

	return fstatvfs(d->fd, &fs) ||
	       (uint64_t)fs.f_bavail * fs.f_frsize >= SYMBOLS_DIR_FREE + len;
}

int symbols_dir_put(struct symbols_dir *d, const char *name, const struct strbuf *bytes,
		    bool is_public, struct err *err)
{
	struct stat st;
	uint64_t before = 0;
	int rc;

	if (!fstatat(d->fd, name, &st, AT_SYMLINK_NOFOLLOW))
		before = (uint64_t)st.st_size;
	if (d->bytes - before + bytes->len > d->limit)
		return err_set(err, -EDQUOT,
			       SPEC_SYMBOLS_DIR
			       " would hold more than %" PRIu64
			       " MiB: remove sessions, or allow more with "
			       "--limit",
			       d->limit >> 20);
	if (!leaves_room(d, bytes->len))
		return err_set(err, -ENOSPC,
			       "less than %u MiB of the disk would stay free",
			       SYMBOLS_DIR_FREE >> 20);
	rc = file_replace(d->fd, name, bytes->data, bytes->len, is_public ? 0644 : 0600,
			  true, err);
	if (!rc)
		d->bytes += bytes->len - before;
	return rc;
}
