/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/sample_format.h"
#include "libspec/sample_write.h"

enum { DIR_MODE = 0755, FILE_MODE = 0644, MAX_SUFFIX = 1000 };

/* The year 10000 begins, which names of sessions have no room for. */
#define END_OF_TIME 253402300800LL

static const char started_file[] = "stats/started";

/* Sizes and offsets of this machine's sample files, as opimport wants them. */
static const struct abi {
	const char *key;
	unsigned value;
} abi[] = {
	{ "sizeof_double", sizeof(double) },
	{ "sizeof_u64", 8 },
	{ "sizeof_u8", 1 },
	{ "sizeof_u32", 4 },
	{ "sizeof_int", sizeof(int) },
	{ "sizeof_unsigned_int", sizeof(unsigned int) },
	{ "sizeof_odb_key_t", 8 },
	{ "sizeof_odb_index_t", 4 },
	{ "sizeof_odb_value_t", 4 },
	{ "sizeof_odb_node_nr_t", 4 },
	{ "sizeof_odb_descr_t", sizeof(struct spec_sample_descr) },
	{ "sizeof_odb_node_t", sizeof(struct spec_sample_node) },
	{ "sizeof_struct_opd_header", sizeof(struct spec_sample_header) },
	{ "offsetof_node_key", offsetof(struct spec_sample_node, key) },
	{ "offsetof_node_value", offsetof(struct spec_sample_node, value) },
	{ "offsetof_node_next", offsetof(struct spec_sample_node, next) },
	{ "offsetof_descr_size", offsetof(struct spec_sample_descr, size) },
	{ "offsetof_descr_current_size", offsetof(struct spec_sample_descr, current_size) },
	{ "offsetof_header_magic", offsetof(struct spec_sample_header, magic) },
	{ "offsetof_header_version", offsetof(struct spec_sample_header, version) },
	{ "offsetof_header_cpu_type", offsetof(struct spec_sample_header, cpu_type) },
	{ "offsetof_header_ctr_event", offsetof(struct spec_sample_header, event) },
	{ "offsetof_header_ctr_um", offsetof(struct spec_sample_header, unit_mask) },
	{ "offsetof_header_ctr_count", offsetof(struct spec_sample_header, count) },
	{ "offsetof_header_is_kernel", offsetof(struct spec_sample_header, is_kernel) },
	{ "offsetof_header_cpu_speed", offsetof(struct spec_sample_header, cpu_mhz) },
	{ "offsetof_header_mtime", offsetof(struct spec_sample_header, mtime) },
	{ "offsetof_header_cg_to_is_kernel",
	  offsetof(struct spec_sample_header, cg_to_is_kernel) },
	{ "offsetof_header_anon_start", offsetof(struct spec_sample_header, anon_start) },
	{ "offsetof_header_cg_to_anon_start",
	  offsetof(struct spec_sample_header, cg_to_anon_start) },
	{ "little_endian", 1 },
};

static int write_abi(int dir_fd, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };

	for (size_t i = 0; i < sizeof(abi) / sizeof(abi[0]); i++)
		strbuf_printf(&text, "%s %u\n", abi[i].key, abi[i].value);
	if (strbuf_error(&text))
		return err_errno(err, -ENOMEM, "abi");
	return file_replace(dir_fd, "abi", text.data, text.len, FILE_MODE, 0, err);
}

static int lock(struct coll_session *s, int dir_fd, struct err *err)
{
	char text[32] = "";
	struct stat st;
	int n;

	s->lock_fd = openat(dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
			    FILE_MODE);
	if (s->lock_fd < 0)
		return err_errno(err, -errno, "%s/lock", strbuf_str(&s->dir));
	/* it is cut off below: never a file that has another name, and another use */
	if (fstat(s->lock_fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink > 1)
		return err_set(err, -EINVAL,
			       "%s/lock is not a file of its own; remove it",
			       strbuf_str(&s->dir));
	if (flock(s->lock_fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return err_errno(err, -errno, "%s/lock", strbuf_str(&s->dir));
		if (pread(s->lock_fd, text, sizeof(text) - 1, 0) < 0)
			text[0] = '\0';
		return err_set(err, -EBUSY,
			       "%s: another collector (process %d) writes there; wait for "
			       "it, or give another --session-dir",
			       strbuf_str(&s->dir), atoi(text));
	}
	n = snprintf(text, sizeof(text), "%d\n", getpid());
	if (ftruncate(s->lock_fd, 0) || pwrite(s->lock_fd, text, (size_t)n, 0) != n)
		return err_errno(err, -errno, "%s/lock", strbuf_str(&s->dir));
	return 0;
}

static bool has_entry(int fd, const char *name)
{
	return !faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

/* When the session was begun: as it says itself, or else the age of its directory. */
static time_t started(int fd)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct statx st;
	long long seconds;

	if (!file_slurp(fd, started_file, 64, &text, NULL) && text.len &&
	    sscanf(text.data, "%lld", &seconds) == 1 && seconds > 0 &&
	    seconds < END_OF_TIME)
		return (time_t)seconds;
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME | STATX_MTIME, &st))
		return time(NULL);
	return (time_t)(st.stx_mask & STATX_BTIME ? st.stx_btime.tv_sec :
						    st.stx_mtime.tv_sec);
}

/* Sets a "current" with samples aside, under the time it was begun. */
static int set_aside(struct coll_session *s, int samples_fd, int fd, struct err *err)
{
	time_t when = started(fd);
	char name[64];
	struct tm tm;
	size_t len;

	gmtime_r(&when, &tm);
	len = strftime(name, sizeof(name) - 8, "%Y-%m-%dT%H-%M-%SZ", &tm);
	for (int i = 2; i < MAX_SUFFIX; i++) {
		if (!renameat2(samples_fd, "current", samples_fd, name, RENAME_NOREPLACE)) {
			strbuf_puts(&s->renamed, name);
			return 0;
		}
		if (errno != EEXIST)
			break;
		snprintf(name + len, sizeof(name) - len, "-%d", i);
	}
	return err_errno(err, -errno, "%s/samples/current: renaming it to %s",
			 strbuf_str(&s->dir), name);
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
	return err_set(err, -EPERM,
		       "samples/current belongs to user %u: root adds only to sessions of "
		       "root (run it as that user, or without --append)",
		       (unsigned)st.st_uid);
}

/* Makes the last component of a path only: a mistyped one is not filled with directories. */
static int make_dir(const char *path, struct err *err)
{
	if (!mkdir(path, DIR_MODE) || errno == EEXIST)
		return 0;
	if (errno == ENOENT && *path)
		return err_set(err, -ENOENT,
			       "the directory it would be made in does not exist (mistyped? "
			       "else make it with mkdir -p)");
	return err_errno(err, -errno, "%s", path);
}

/* Makes way in samples/: "current" is not there afterwards, or may be added to. */
static int make_way(struct coll_session *s, int samples_fd, bool append, struct err *err)
{
	CLEANUP(close_fd) int fd = openat(samples_fd, "current",
					  O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return errno == ENOENT ? 0 :
					 err_errno(err, -errno, "%s/samples/current",
						   strbuf_str(&s->dir));
	if (append)
		return 0;
	if (has_entry(fd, "{root}") || has_entry(fd, "{kern}"))
		return set_aside(s, samples_fd, fd, err);
	return file_remove_tree(samples_fd, "current", err);
}

static int begin(struct coll_session *s, int samples_fd, bool append, struct err *err)
{
	char text[32];
	int rc = file_mkdirs(samples_fd, "current", DIR_MODE, err);

	if (rc)
		return rc;
	s->fd = openat(samples_fd, "current",
		       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (s->fd < 0)
		return err_errno(err, -errno, "samples/current");
	rc = check_owner(s->fd, err);
	rc = rc ? rc : file_mkdirs(s->fd, "stats", DIR_MODE, err);
	rc = rc ? rc : spec_sample_sweep(s->fd, err);
	if (!rc && append)
		rc = spec_stats_read(s->fd, &s->before, err);
	if (rc)
		return rc;
	if (spec_live_read(s->fd, &s->live, NULL))
		s->live = (struct spec_live){ 0 };
	s->live.closed = false;
	if (has_entry(s->fd, started_file))
		return 0;
	snprintf(text, sizeof(text), "%lld\n", (long long)time(NULL));
	return file_replace(s->fd, started_file, text, strlen(text), FILE_MODE, 0, err);
}

int coll_session_open(struct coll_session *s, const char *dir, bool append, struct err *err)
{
	CLEANUP(close_fd) int dir_fd = -1;
	CLEANUP(close_fd) int samples_fd = -1;
	struct err why = { 0 };
	int rc;

	*s = (struct coll_session){ .lock_fd = -1, .fd = -1 };
	strbuf_puts(&s->dir, dir ? dir : "oprofile_data");
	rc = strbuf_error(&s->dir);
	if (!rc)
		rc = make_dir(strbuf_str(&s->dir), &why);
	if (!rc)
		dir_fd = rc = open_dir(AT_FDCWD, strbuf_str(&s->dir), &why);
	if (rc >= 0)
		rc = lock(s, dir_fd, &why);
	if (!rc)
		rc = file_mkdirs(dir_fd, "samples", DIR_MODE, &why);
	if (!rc)
		samples_fd = rc = open_dir(dir_fd, "samples", &why);
	if (rc >= 0)
		rc = make_way(s, samples_fd, append, &why);
	if (!rc)
		rc = begin(s, samples_fd, append, &why);
	if (!rc)
		rc = write_abi(dir_fd, &why);
	if (rc == -EBUSY || !rc)
		return rc ? err_set(err, rc, "%s", why.msg) : 0;
	return err_set(err, rc,
		       "session %s cannot be written: %s; give a directory of yours with "
		       "--session-dir",
		       strbuf_str(&s->dir), why.msg);
}

int coll_session_tell(struct coll_session *s, const struct spec_stats *now, bool closed,
		      struct err *err)
{
	struct spec_stats sum = s->before;
	struct timespec ts;
	int rc;

	for (int i = 0; i < SPEC_NR_STATS; i++)
		sum.value[i] += now->value[i];
	rc = spec_stats_write(s->fd, &sum, err);
	clock_gettime(CLOCK_REALTIME, &ts);
	s->live.generation++;
	s->live.drained_ns = (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
	s->live.closed = closed;
	return rc ? rc : spec_live_write(s->fd, &s->live, err);
}

void coll_session_fini(struct coll_session *s)
{
	close_fd(&s->fd);
	close_fd(&s->lock_fd);
	strbuf_fini(&s->dir);
	strbuf_fini(&s->renamed);
	*s = (struct coll_session){ .lock_fd = -1, .fd = -1 };
}
