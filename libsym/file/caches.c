/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/caches.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libsym/file/open.h"

static char debuginfod_dir[PATH_MAX], perf_dir[PATH_MAX], own_dir[PATH_MAX];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Without $HOME, as where fstab mounts, what the user's entry says. */
static const char *home_of_user(char *room, size_t size)
{
	const char *home = getenv("HOME");
	struct passwd entry, *found = NULL;

	if (home && *home)
		return home;
	return !getpwuid_r(geteuid(), &entry, room, size, &found) && found ? found->pw_dir
									   : "";
}

/* Relative paths mean another place in each directory: none. */
static void set(char *to, const char *dir, const char *below)
{
	int len = *dir == '/' ? snprintf(to, PATH_MAX, "%s%s", dir, below) : 0;

	if (len < 0 || len >= PATH_MAX)
		*to = '\0';
}

static void find(void)
{
	const char *own = getenv("DEBUGINFOD_CACHE_PATH"),
		   *xdg = getenv("XDG_CACHE_HOME"), *ours = getenv("OPFS_CACHE_DIR");
	char room[4096];
	const char *home = home_of_user(room, sizeof(room));

	set(perf_dir, home, "/.debug");
	if (own && *own)
		set(debuginfod_dir, own, "");
	else if (xdg && *xdg)
		set(debuginfod_dir, xdg, "/debuginfod_client");
	else
		set(debuginfod_dir, home, "/.cache/debuginfod_client");
	if (ours)
		set(own_dir, ours, "");
	else if (xdg && *xdg)
		set(own_dir, xdg, "/opfs");
	else
		set(own_dir, home, "/.cache/opfs");
}

const char *sym_caches_debuginfod(void)
{
	pthread_once(&once, find);
	return debuginfod_dir;
}

const char *sym_caches_perf(void)
{
	pthread_once(&once, find);
	return perf_dir;
}

const char *sym_caches_own(void)
{
	pthread_once(&once, find);
	return own_dir;
}

struct row {
	bool perf;
	const char *name;
};

static const struct row debug_rows[] = {
	{ false, "debuginfo" }, { true, "debug" }, { true, "elf" }, { 0 }
};
static const struct row image_rows[] = { { false, "executable" },
					 { true, "elf" },
					 { 0 } };
static const struct row *const rows[] = {
	[SYM_CACHED_DEBUG] = debug_rows,
	[SYM_CACHED_IMAGE] = image_rows,
};

bool sym_caches_path(const struct sym_places *p, const struct build_id *id,
		     enum sym_cached what, unsigned i, struct strbuf *out)
{
	const struct row *row = &rows[what][i];
	const char *dir = row->perf ? p->perf : p->debuginfod;
	char hex[BUILD_ID_TEXT];

	if (!row->name || id->len < 2)
		return false;
	build_id_format(id, hex);
	strbuf_reset(out);
	if (row->perf)
		strbuf_printf(out, "%s/.build-id/%.2s/%s/%s", dir ? dir : "", hex,
			      hex + 2, row->name);
	else
		strbuf_printf(out, "%s/%s/%s", dir ? dir : "", hex, row->name);
	if (!dir || !*dir) /* no such cache: a path that leads to nothing */
		strbuf_reset(out);
	return true;
}

int sym_caches_open(const struct sym_places *p, const char *path, const struct cred *cred)
{
	CLEANUP(close_fd) int fd = *path ? sym_open(path, cred, NULL) : -ENOENT;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		return -errno;
	return st.st_uid && st.st_uid != p->owner ? -EPERM : take_fd(&fd);
}
