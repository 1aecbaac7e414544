/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/store/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/lockfile.h"
#include "base/log.h"
#include "base/utf8.h"
#include "collector/store/recover.h"
#include "libspec/name/clock.h"
#include "libspec/sample/abi.h"
#include "libspec/sample/sample_write.h"
#include "libspec/session/reserve.h"
#include "libspec/session/session.h"
#include "libspec/spec/span.h"

enum { DIR_MODE = 0755, MAX_SUFFIX = 1000, MAX_NAME = 200 };

/* In samples/, and seen by nobody: what will be "current", and what just was. */
static const char next_dir[] = SPEC_SESSION_NEXT, last_dir[] = SPEC_SESSION_LAST;

static int lock(struct coll_session *s, int dir_fd, struct err *err)
{
	struct err why = { 0 };
	int holder = 0, rc = lockfile_take(dir_fd, "lock", false, &holder, &why);

	if (rc == -EWOULDBLOCK)
		return err_set(
			err, -EBUSY,
			"%s: another collector (process %d) writes there; wait for "
			"it, or give another --session-dir",
			strbuf_str(&s->dir), holder);
	if (rc < 0)
		return err_set(err, rc, "%s/%s", strbuf_str(&s->dir), why.msg);
	s->lock_fd = rc;
	rc = lockfile_sign(s->lock_fd);
	return rc ? err_errno(err, rc, "%s/lock", strbuf_str(&s->dir)) : 0;
}

static bool has_entry(int fd, const char *name)
{
	return !faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* When the session was begun: as it says itself, or else the age of its directory. */
static time_t started(int fd)
{
	struct statx st;
	uint64_t ns;

	if (!spec_started_read(fd, &ns, NULL))
		return (time_t)(ns / SPEC_NS_PER_S);
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME, &st))
		return time(NULL);
	return (time_t)(st.stx_mask & STATX_BTIME ? st.stx_btime.tv_sec
						  : st.stx_mtime.tv_sec);
}

static bool has_samples(int fd)
{
	return has_entry(fd, "{root}") || has_entry(fd, "{kern}");
}

/* Renames a session within samples/, to the time it was begun. */
static int name_by_time(const struct coll_session *s, int fd, const char *from,
			struct strbuf *name, struct err *err)
{
	size_t len;

	spec_clock_name((uint64_t)started(fd) * SPEC_NS_PER_S, name);
	len = name->len;
	for (int i = 2; i < MAX_SUFFIX && !strbuf_error(name); i++) {
		if (!renameat2(s->samples_fd, from, s->samples_fd, name->data,
			       RENAME_NOREPLACE))
			return 0;
		if (errno != EEXIST)
			break;
		strbuf_truncate(name, len);
		strbuf_printf(name, "-%d", i);
	}
	return err_errno(err, strbuf_error(name) ? -ENOMEM : -errno,
			 "%s/samples/%s: renaming it to %s", strbuf_str(&s->dir), from,
			 strbuf_str(name));
}

/* A link that somebody else made may lead anywhere: what is there would be written to. */
static bool trusted_link(int at, const char *name)
{
	struct stat st;

	return !fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode) &&
	       (!st.st_uid || st.st_uid == geteuid());
}

static int open_dir(int at, const char *name, struct err *err)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int fd = openat(at, name, flags | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 && trusted_link(at, name))
		fd = openat(at, name, flags);
	if (fd >= 0)
		return fd;
	if (!fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
		return err_set(err, -ELOOP,
			       "%s is a symbolic link of user %u, which is not followed",
			       name, (unsigned)st.st_uid);
	return err_errno(err, -errno, "%s", name);
}

/* Below a directory of root's nobody else can lay links for root to write through. */
static int check_owner(int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st))
		return err_errno(err, -errno, "current");
	if (geteuid() || !st.st_uid)
		return 0;
	return err_set(
		err, -EPERM,
		"samples/current belongs to user %u: root adds only to sessions of "
		"root (run it as that user, or without --append)",
		(unsigned)st.st_uid);
}

/* Makes the last component of a path only: a mistyped one is not filled with
 * directories. */
static int make_dir(const char *path, struct err *err)
{
	if (!mkdir(path, DIR_MODE) || errno == EEXIST)
		return 0;
	if (errno == ENOENT && *path)
		return err_set(
			err, -ENOENT,
			"the directory it would be made in does not exist (mistyped? "
			"else make it with mkdir -p)");
	return err_errno(err, -errno, "%s", path);
}

int coll_session_dir(int samples_fd, const char *name)
{
	int fd =
		openat(samples_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

/* What a rotation that was killed left: samples are named, the rest goes. */
static int clear_leftover(struct coll_session *s, const char *at, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	CLEANUP(close_fd) int fd = coll_session_dir(s->samples_fd, at);

	if (fd >= 0 && has_samples(fd))
		return name_by_time(s, fd, at, &name, err);
	return fd == -ENOENT ? 0 : file_remove_tree(s->samples_fd, at, err);
}

int coll_session_prepare(struct coll_session *s, int *out, struct err *err)
{
	struct spec_live live = { .generation = s->live.generation + 2 };
	CLEANUP(close_fd) int fd = -1;
	int rc = clear_leftover(s, next_dir, err);

	if (!rc)
		rc = clear_leftover(s, last_dir, err);
	if (!rc && mkdirat(s->samples_fd, next_dir, DIR_MODE))
		rc = err_errno(err, -errno, "%s/samples/%s", strbuf_str(&s->dir),
			       next_dir);
	if (rc)
		return rc;
	fd = coll_session_dir(s->samples_fd, next_dir);
	if (fd < 0)
		return err_errno(err, fd, "%s/samples/%s", strbuf_str(&s->dir), next_dir);
	live.drained_ns = clock_real_ns();
	/* else as far as it goes: there may be no space now, and later */
	spec_room_make(fd, NULL);
	rc = file_mkdirs(fd, "stats", DIR_MODE, err);
	rc = rc ? rc : spec_live_write(fd, &live, err);
	rc = rc ? rc : spec_started_write(fd, live.drained_ns, err);
	if (!rc)
		*out = take_fd(&fd);
	return rc;
}

/* Puts the prepared session in the place of "current"; @at: where that is now. */
static int exchange(struct coll_session *s, const char **at, struct err *err)
{
	int dir = s->samples_fd;

	*at = next_dir;
	if (!renameat2(dir, next_dir, dir, "current", RENAME_EXCHANGE))
		return 0;
	if (errno == EINVAL || errno == ENOSYS) {
		*at = last_dir;
		if (!renameat2(dir, "current", dir, last_dir, RENAME_NOREPLACE) &&
		    !renameat2(dir, next_dir, dir, "current", RENAME_NOREPLACE))
			return 0;
	}
	return err_errno(err, -errno, "%s/samples/current: rotating",
			 strbuf_str(&s->dir));
}

static int give_name(struct coll_session *s, const char *at, const char *name,
		     struct coll_session_old *old, struct err *err)
{
	if (!name)
		return name_by_time(s, old->fd, at, &old->name, err);
	strbuf_puts(&old->name, name);
	if (renameat2(s->samples_fd, at, s->samples_fd, name, RENAME_NOREPLACE))
		return err_errno(err, -errno, "%s/samples/%s", strbuf_str(&s->dir), name);
	return strbuf_error(&old->name);
}

int coll_session_rotate(struct coll_session *s, int next, const struct spec_stats *now,
			const char *name, struct coll_session_old *old, struct err *err)
{
	CLEANUP(close_fd) int next_fd = next;
	struct err why = { 0 };
	const char *at;
	int rc;

	*old = (struct coll_session_old){ .fd = -1 };
	if (name && has_entry(s->samples_fd, name))
		return err_set(err, -EEXIST,
			       "there is a session %s already; choose another name, or "
			       "remove it first",
			       name);
	rc = exchange(s, &at, err);
	if (rc)
		return rc;
	old->fd = s->fd;
	/* figures that cannot be written do not keep samples from being found */
	rc = coll_session_tell(s, now, true, &why);
	spec_room_drop(old->fd);
	s->fd = take_fd(&next_fd);
	s->before = (struct spec_stats){ 0 };
	s->has_told = false;
	s->live.generation++;
	s->live.closed = false;
	if (give_name(s, at, name, old, err)) {
		strbuf_reset(&old->name);
		if (!name || name_by_time(s, old->fd, at, &old->name, err))
			strbuf_puts(&old->name, at);
	}
	if (rc)
		log_err("%s/samples/%s: the last figures could not be written: %s",
			strbuf_str(&s->dir), strbuf_str(&old->name), why.msg);
	return 0;
}

/* An empty "current", or the one that is added to. */
static int begin(struct coll_session *s, bool append, bool kept, struct err *err)
{
	int fd = coll_session_dir(s->samples_fd, s->name), rc;
	bool samples = fd >= 0 && has_samples(fd);
	struct err why = { 0 };
	const char *at;

	if (fd < 0 && fd != -ENOENT)
		return err_errno(err, fd, "%s/samples/%s", strbuf_str(&s->dir), s->name);
	if (fd >= 0 && !append && strcmp(s->name, "current") != 0) {
		close(fd);
		return err_set(
			err, -EEXIST,
			"there is a session %s in %s already; choose another name, "
			"add to it with --append, or remove it with \"opcollect "
			"remove\"",
			s->name, strbuf_str(&s->dir));
	}
	if (samples && !spec_live_read(fd, &s->live, NULL) &&
	    !(kept && has_entry(fd, COLL_SETTINGS)) && coll_recover(fd, &s->live, &why))
		log_warn("figures of the session before: %s", why.msg);
	if (fd >= 0 && append) {
		s->fd = fd;
		return 0;
	}
	if (fd >= 0)
		spec_room_drop(fd); /* that one was killed */
	if (fd >= 0 && spec_live_read(fd, &s->live, NULL))
		s->live = (struct spec_live){ 0 };
	rc = coll_session_prepare(s, &s->fd, err);
	if (!rc && fd < 0 &&
	    renameat2(s->samples_fd, next_dir, s->samples_fd, s->name, RENAME_NOREPLACE))
		rc = err_errno(err, -errno, "%s/samples/%s", strbuf_str(&s->dir),
			       s->name);
	if (!rc && fd >= 0)
		rc = exchange(s, &at, err);
	if (!rc && samples)
		rc = name_by_time(s, fd, at, &s->renamed, err);
	else if (!rc && fd >= 0)
		rc = file_remove_tree(s->samples_fd, at, err);
	close_fd(&fd);
	return rc;
}

static int make_ready(struct coll_session *s, bool append, struct err *err)
{
	uint64_t started_ns;
	int rc = check_owner(s->fd, err);

	rc = rc ? rc : file_mkdirs(s->fd, "stats", DIR_MODE, err);
	rc = rc ? rc : spec_sample_sweep(s->fd, err);
	if (append)
		spec_room_make(s->fd, NULL);
	if (!rc && append)
		rc = spec_stats_read(s->fd, &s->before, err);
	if (rc)
		return rc;
	if (spec_live_read(s->fd, &s->live, NULL))
		s->live = (struct spec_live){ 0 };
	s->live.closed = false;
	if (spec_started_read(s->fd, &started_ns, NULL) != -ENOENT)
		return 0;
	return spec_started_write(s->fd, clock_real_ns(), err);
}

/*
 * What this machine adds to sample files of another kind, or puts beside them, would be
 * read by the same abi.  A damaged one says nothing, and is replaced.
 */
static int check_abi(int dir_fd, struct err *err)
{
	struct spec_abi abi;

	if (spec_abi_read(dir_fd, &abi, NULL) || spec_abi_is_native(&abi))
		return 0;
	return err_set(err, -EINVAL,
		       "its sessions were recorded on another kind of machine (%s), as "
		       "its file abi says",
		       spec_abi_describe(&abi));
}

/* What to do about it, before "with --session-dir". */
static const char *advice(int rc)
{
	static const struct {
		int code;
		const char *text;
	} rows[] = {
		{ ENOSPC, "the disk is full: make room, or give a directory of another" },
		{ EDQUOT, "your quota is used up: make room, or give another directory" },
		{ EROFS, "nothing can be written there: give a directory elsewhere" },
		{ ENOTDIR, "that is no directory: give one" },
		{ EACCES, "give a directory of yours" },
		{ EPERM, "give a directory of yours" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == -rc)
			return rows[i].text;
	return "give another directory";
}

int coll_session_open(struct coll_session *s, const char *dir, const char *name,
		      bool append, bool kept, struct err *err)
{
	CLEANUP(close_fd) int dir_fd = -1;
	struct err why = { 0 };
	int rc;

	*s = (struct coll_session){
		.name = name ? name : "current", .lock_fd = -1, .samples_fd = -1, .fd = -1
	};
	strbuf_puts(&s->dir, spec_session_dir_to_write(dir));
	rc = strbuf_error(&s->dir);
	if (!rc)
		rc = make_dir(strbuf_str(&s->dir), &why);
	if (!rc)
		dir_fd = rc = open_dir(AT_FDCWD, strbuf_str(&s->dir), &why);
	if (rc >= 0)
		rc = check_abi(dir_fd, &why);
	if (!rc)
		rc = lock(s, dir_fd, &why);
	if (!rc)
		rc = file_mkdirs(dir_fd, "samples", DIR_MODE, &why);
	if (!rc)
		s->samples_fd = rc = open_dir(dir_fd, "samples", &why);
	if (rc >= 0)
		rc = begin(s, append, kept, &why);
	if (!rc)
		rc = make_ready(s, append, &why);
	if (!rc)
		rc = spec_abi_write(dir_fd, &why);
	if (rc == -EBUSY || rc == -EEXIST || !rc)
		return rc ? err_set(err, rc, "%s", why.msg) : 0;
	return err_set(err, rc, "session %s cannot be written: %s; %s with --session-dir",
		       strbuf_str(&s->dir), why.msg, advice(rc));
}

bool coll_session_name_is_time(const char *name)
{
	uint64_t ns;

	return spec_clock_parse_name(name, &ns);
}

int coll_session_name_check(const char *name, struct err *err)
{
	const char *at = name;

	if (!*name || name[0] == '.' || strchr(name, '/') || strlen(name) > MAX_NAME)
		return err_set(err, -EINVAL,
			       "\"%s\" cannot name a session: 1 to %d bytes without a "
			       "slash, and not a dot first",
			       name, MAX_NAME);
	for (size_t left = strlen(name), len; left; at += len, left -= len) {
		if (utf8_control_len(at, left))
			return err_set(
				err, -EINVAL,
				"the name of a session holds no control characters");
		len = utf8_len(at, left);
		len = len ? len : 1;
	}
	if (!strcmp(name, "current"))
		return err_set(err, -EINVAL,
			       "\"current\" is the name that collectors write to; "
			       "choose another name");
	if (spec_session_is_hidden(name))
		return err_set(err, -EINVAL,
			       "\"%s\" cannot name a session: paths and the mount have "
			       "something else of that name; choose another",
			       name);
	return 0;
}

static uint64_t take_out(uint64_t *figure, uint64_t nr)
{
	uint64_t out = nr < *figure ? nr : *figure;

	*figure -= out;
	return out;
}

void coll_session_lose(struct coll_session *s, struct spec_stats *now,
		       enum spec_stat from, enum spec_stat to, uint64_t nr)
{
	uint64_t out = take_out(&now->value[from], nr);

	now->value[to] += out;
	s->before.value[to] += take_out(&s->before.value[from], nr - out);
}

int coll_session_tell(struct coll_session *s, const struct spec_stats *now, bool closed,
		      struct err *err)
{
	struct spec_stats sum = s->before;
	int rc;

	for (int i = 0; i < SPEC_NR_STATS; i++)
		sum.value[i] += now->value[i];
	rc = spec_stats_write(s->fd, &sum, s->has_told ? &s->told : NULL, err);
	s->told = sum;
	s->has_told = !rc;
	s->live.generation++;
	s->live.drained_ns = clock_real_ns();
	s->live.closed = closed;
	return rc ? rc : spec_live_write(s->fd, &s->live, err);
}

void coll_session_old_fini(struct coll_session_old *old)
{
	close_fd(&old->fd);
	strbuf_fini(&old->name);
	old->fd = -1;
}

void coll_session_fini(struct coll_session *s)
{
	if (s->fd >= 0)
		spec_room_drop(s->fd);
	close_fd(&s->fd);
	close_fd(&s->samples_fd);
	close_fd(&s->lock_fd);
	strbuf_fini(&s->dir);
	strbuf_fini(&s->renamed);
	*s = (struct coll_session){ .lock_fd = -1, .samples_fd = -1, .fd = -1 };
}
