/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/cli/download.h"

#include <elfutils/debuginfod.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/library.h"
#include "base/strbuf.h"

enum { MAX_TOLD = 1 << 20 };

struct download {
	debuginfod_client *client;
	int told;           /* what the library says of its doings, a memfd */
	uint64_t max_bytes; /* of a file */
	uint64_t bytes;     /* of the file so far */
	bool too_large, shown;

	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find[2]; /* by enum sym_cached */
	__typeof__(debuginfod_set_progressfn) *set_progressfn;
	__typeof__(debuginfod_set_verbose_fd) *set_verbose_fd;
};

static const struct library_function functions[] = {
#define FUNCTION(name)                                                                   \
	{                                                                                \
		"debuginfod_" #name, offsetof(struct download, name)                     \
	}
	FUNCTION(begin),
	FUNCTION(end),
	{ "debuginfod_find_debuginfo",
	  offsetof(struct download, find[SYM_CACHED_DEBUG]) },
	{ "debuginfod_find_executable",
	  offsetof(struct download, find[SYM_CACHED_IMAGE]) },
	FUNCTION(set_progressfn),
	FUNCTION(set_verbose_fd),
};

static struct download *at_hand; /* whose progress is told */
static volatile sig_atomic_t signal_came;

static void note_signal(int number)
{
	signal_came = number;
}

/* A second one ends the process at once. */
static void catch_signals(void)
{
	static const int all[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = note_signal, .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		sigaction(all[i], &sa, NULL);
}

void download_end_by_signal(void)
{
	if (!signal_came)
		return;
	fflush(NULL);
	signal(signal_came, SIG_DFL);
	raise(signal_came);
}

/* ---- progress */

/* @total: 0 or negative: unknown */
static void show(struct download *d, uint64_t bytes, int64_t total)
{
	fprintf(stderr, "\r\033[K%.1f", (double)bytes / (1 << 20));
	if (total > 0)
		fprintf(stderr, " of %.1f", (double)total / (1 << 20));
	fputs(" MiB", stderr);
	d->shown = true;
}

static void hide(struct download *d)
{
	if (d->shown)
		fputs("\r\033[K", stderr);
	d->shown = false;
}

/* Until a server has answered, @total is 0 and @done a count of calls.  Anything but 0
 * ends the transfer. */
static int progress(debuginfod_client *client, long done, long total)
{
	struct download *d = at_hand;

	(void)client;
	if (!total)
		return signal_came != 0;
	d->bytes = (uint64_t)done;
	d->too_large |=
		d->bytes > d->max_bytes || (total > 0 && (uint64_t)total > d->max_bytes);
	if (isatty(STDERR_FILENO))
		show(d, d->bytes, total);
	return signal_came || d->too_large;
}

/* ---- what went wrong */

/* The library's answers are few: a file cut short is -ENOENT.  What it tells of its
 * doings has a line of the HTTP client's, "url N WHY", behind each "server response". */
static const char response[] = "server response ";

static bool says_absent(const char *why)
{
	return strstr(why, "returned error: 404") || strstr(why, "Couldn't open file");
}

/* Appends why the servers did not answer; those that just do not have it are left out.
 * Returns how many these are. */
static unsigned add_reasons(const char *told, struct strbuf *out)
{
	const char *at = told;
	unsigned absent = 0;

	while ((at = strstr(at, response))) {
		CLEANUP(strbuf_fini) struct strbuf why = { 0 };
		const char *url = strchr(at, '\n');

		at += strlen(response);
		strbuf_add(&why, at, strcspn(at, "\n"));
		if (url && !strncmp(url, "\nurl ", 5)) {
			url += 5 + strspn(url + 5, "0123456789");
			strbuf_reset(&why);
			strbuf_add(&why, url + 1, strcspn(url + 1, "\n"));
		}
		if (says_absent(strbuf_str(&why))) {
			absent++;
			continue;
		}
		strbuf_puts(out, out->len ? "; " : "");
		escape_text(out, strbuf_str(&why));
	}
	return absent;
}

static int explain(struct download *d, int rc, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf told = { 0 }, why = { 0 };
	unsigned absent = 0;

	if (signal_came)
		return err_set(err, -EINTR, "interrupted");
	if (d->too_large)
		return err_set(err, -EFBIG,
			       "it is larger than %" PRIu64
			       " MiB: allow more with --limit",
			       d->max_bytes >> 20);
	lseek(d->told, 0, SEEK_SET);
	if (!file_slurp_fd(d->told, "libdebuginfod", MAX_TOLD, &told, NULL))
		absent = add_reasons(strbuf_str(&told), &why);
	if (rc == -ENOENT && !why.len && absent)
		return err_set(err, -ENOENT, "not on the server");
	return err_set(err, rc == -ENOENT ? -EIO : rc, "%s",
		       why.len ? strbuf_str(&why) : strerror(-rc));
}

/* ---- */

/* That no server had it the library remembers as an empty file, also if it could not be
 * asked: the user who asks again wants to know again. */
static void forget_failure(enum sym_cached what, const struct build_id *id)
{
	const struct sym_places p = { .debuginfod = sym_caches_debuginfod() };
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	struct stat st;
	char *slash;

	if (!sym_caches_path(&p, id, what, 0, &path) || !path.len ||
	    strbuf_error(&path) || lstat(path.data, &st) || !S_ISREG(st.st_mode) ||
	    st.st_size)
		return;
	unlink(path.data);
	slash = strrchr(path.data, '/');
	*slash = '\0';
	rmdir(path.data); /* if it is empty now */
}

static void begin_file(struct download *d)
{
	d->bytes = 0;
	d->too_large = false;
	if (ftruncate(d->told, 0) || lseek(d->told, 0, SEEK_SET))
		return; /* messages will say less */
}

int download_get(struct download *d, enum sym_cached what, const struct build_id *id,
		 char **path, uint64_t *size, struct err *err)
{
	CLEANUP(close_fd) int fd = -1;
	struct stat st;

	forget_failure(what, id);
	begin_file(d);
	fd = signal_came ? -EINTR : d->find[what](d->client, id->bytes, id->len, path);
	hide(d);
	if (fd >= 0 && !fstat(fd, &st)) {
		*size = (uint64_t)st.st_size;
		return 0;
	}
	forget_failure(what, id);
	return explain(d, fd < 0 ? fd : -EIO, err);
}

/* Readers look where it stores files, whatever else it goes by. */
static int set_cache(struct err *err)
{
	const char *dir = sym_caches_debuginfod();
	int rc;

	if (!*dir)
		return err_set(err, -EINVAL,
			       "where to store files is not known: set "
			       "DEBUGINFOD_CACHE_PATH to the absolute path of a "
			       "directory");
	rc = file_mkdirs(AT_FDCWD, dir, 0755, err);
	if (rc)
		return rc;
	return setenv("DEBUGINFOD_CACHE_PATH", dir, 1) ? err_errno(err, -errno, "%s", dir)
						       : 0;
}

static int open_client(struct download *d, struct err *err)
{
	int rc = set_cache(err);

	if (!rc)
		rc = library_load(DEBUGINFOD_SONAME, "libdebuginfod1", functions,
				  sizeof(functions) / sizeof(functions[0]), d, err);
	if (rc)
		return rc;
	d->told = memfd_create("opfs-fetch", MFD_CLOEXEC);
	d->client = d->told < 0 ? NULL : d->begin();
	if (!d->client)
		return err_errno(err, -ENOMEM, "a client of debuginfod");
	d->set_verbose_fd(d->client, d->told);
	d->set_progressfn(d->client, progress);
	at_hand = d;
	catch_signals();
	return 0;
}

int download_open(uint64_t max_bytes, struct download **out, struct err *err)
{
	struct download *d = malloc(sizeof(*d));
	int rc;

	if (!d)
		return err_errno(err, -ENOMEM, "a client of debuginfod");
	*d = (struct download){ .told = -1, .max_bytes = max_bytes };
	rc = open_client(d, err);
	if (rc)
		download_close(d);
	else
		*out = d;
	return rc;
}

/* The library stays loaded: what it uses is not made for being unloaded. */
void download_close(struct download *d)
{
	if (!d)
		return;
	at_hand = NULL;
	if (d->client)
		d->end(d->client);
	close_fd(&d->told);
	free(d);
}
