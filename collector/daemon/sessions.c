/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/daemon/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lockfile.h"
#include "base/log.h"
#include "base/names.h"
#include "base/opt.h"
#include "base/output.h"
#include "collector/daemon/client.h"
#include "collector/daemon/keeper.h"
#include "collector/daemon/named.h"
#include "collector/store/session.h"
#include "libspec/name/clock.h"
#include "libspec/session/session.h"
#include "libspec/session/stats.h"
#include "libspec/spec/span.h"

enum { EXIT_FAILED = 1, MAX_TRIES = 8 };

/* What a command was told, and the directory that it is about. */
struct job {
	const char *given;
	bool json, dry_run, ask_daemon;
	struct strbuf dir;
	int dir_fd, samples_fd;
	struct names names; /* all sessions */
};

static void job_fini(struct job *j)
{
	strbuf_fini(&j->dir);
	names_fini(&j->names);
	close_fd(&j->samples_fd);
	close_fd(&j->dir_fd);
}

static int set_dir(void *ctx, const char *arg, struct err *err)
{
	if (!*arg)
		return err_set(err, -EINVAL, "--session-dir: no directory given");
	((struct job *)ctx)->given = arg;
	return 0;
}

static int set_json(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct job *)ctx)->json = true;
	return 0;
}

static int set_dry_run(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct job *)ctx)->dry_run = true;
	return 0;
}

static int set_daemon(void *ctx, const char *arg, struct err *err)
{
	(void)arg;
	(void)err;
	((struct job *)ctx)->ask_daemon = true;
	return 0;
}

#define DIR_ROW                                                                          \
	{                                                                                \
		'd', "session-dir", "DIR",                                               \
			"($OPFS_SESSION_DIR, ./oprofile_data, /var/lib/oprofile)",       \
			set_dir                                                          \
	}

static const struct opt list_opts[] = {
	DIR_ROW,
	{ 0, "json", NULL, "for programs: an array of objects", set_json },
	{ 0 },
};
static const struct opt rename_opts[] = { DIR_ROW, { 0 } };
static const struct opt remove_opts[] = {
	DIR_ROW,
	{ 'n', "dry-run", NULL, "say what would be removed, and remove nothing",
	  set_dry_run },
	{ 0, "socket", "PATH", "have the daemon do it that listens there", set_daemon },
	{ 0, "config", "FILE", "the same, with the socket that FILE says", set_daemon },
	{ 0 },
};

static const struct opt_program list_program = {
	.name = "opcollect list",
	.synopsis = "[OPTIONS]",
	.about = "Lists the sessions of a session directory: since when, for how long, "
		 "samples,\n"
		 "lost ones, bytes on the disk, events.",
	.opts = list_opts,
};
static const struct opt_program rename_program = {
	.name = "opcollect rename",
	.synopsis = "[OPTIONS] OLD NEW",
	.about = "Gives session OLD the name NEW, which no session has yet.",
	.opts = rename_opts,
};
static const struct opt_program remove_program = {
	.name = "opcollect remove",
	.synopsis = "[OPTIONS] NAME...",
	.about = "Removes sessions. NAME may be a pattern, as '2026-11-*', in quotes; "
		 "\"current\" is\n"
		 "removed by its full name only. What is being written is refused.",
	.opts = remove_opts,
};

/* ---- the directory */

/* Links are followed if the owner of our process, or root, made them. */
static int open_dir(struct job *j, struct err *err)
{
	const uid_t us = geteuid();
	int rc;

	spec_session_dir(j->given, &j->dir);
	if (strbuf_error(&j->dir))
		return err_errno(err, -ENOMEM, "sessions");
	j->dir_fd = open(strbuf_str(&j->dir), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = j->dir_fd < 0 ? -errno : 0;
	if (!rc)
		j->samples_fd = rc = spec_session_open(j->dir_fd, "samples", &us);
	if (rc < 0)
		return err_set(err, rc,
			       "%s: no session directory can be read there: %s; give one "
			       "with --session-dir",
			       strbuf_str(&j->dir), strerror(-rc));
	return spec_session_list(j->dir_fd, NULL, &j->names, err);
}

/* Refuses what a collector writes.  @lock_fd: what keeps others from beginning. */
static int check_idle(const struct job *j, const char *name, int *lock_fd,
		      struct err *err)
{
	CLEANUP(close_fd) int fd = coll_session_dir(j->samples_fd, name);
	struct spec_live live = { 0 };
	int holder = 0;

	if (strcmp(name, "current") != 0 &&
	    (fd < 0 || spec_live_read(fd, &live, NULL) || live.closed))
		return 0;
	*lock_fd = lockfile_take(j->dir_fd, "lock", false, &holder, err);
	if (*lock_fd == -EWOULDBLOCK)
		return err_set(err, -EBUSY,
			       "session %s is being written by process %d; end that "
			       "first%s",
			       name, holder,
			       strcmp(name, "current") ? ""
						       : " (of a daemon, \"opcollect "
							 "save NAME\" closes it, and "
							 "\"reset\" empties it)");
	return *lock_fd < 0 ? err_add(err, *lock_fd, "%s", strbuf_str(&j->dir)) : 0;
}

/* ---- list */

struct row {
	const char *name;
	uint64_t start_ns, end_ns; /* 0: not known */
	uint64_t bytes;
	bool counted; /* it has figures: OProfile's have none */
	struct spec_stats stats;
	struct strbuf events;
	bool live;
	int rc; /* why it cannot be read, or 0 */
};

static int add_event(void *ctx, struct spec_session_file *file)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct names *events = ctx;

	if (file->bad)
		return 0;
	strbuf_printf(&text, "%s:%" PRIu64, file->name->event, file->name->count);
	if (strbuf_error(&text))
		return -ENOMEM;
	return names_has(events, text.data) ? 0 : names_add(events, text.data);
}

/* A daemon may call it otherwise at any time. */
static bool is_called(const struct job *j, const char *name, int session_fd)
{
	CLEANUP(close_fd) int fd = spec_session_open(j->samples_fd, name, NULL);
	struct stat a, b;

	return fd >= 0 && !fstat(fd, &a) && !fstat(session_fd, &b) &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* False: it got another name meanwhile. */
static bool read_row(const struct job *j, const char *name, struct row *r)
{
	CLEANUP(close_fd) int fd = spec_session_open(j->samples_fd, name, NULL);
	CLEANUP(names_fini) struct names events = { 0 };
	struct spec_live live;
	struct err err = { 0 };

	*r = (struct row){ .name = name };
	if (fd < 0) {
		r->rc = fd;
		return true;
	}
	r->bytes = coll_keeper_disk_usage(j->samples_fd, name);
	if (spec_stats_read(fd, &r->stats, &err))
		log_warn("%s: %s", name, err.msg);
	spec_started_read(fd, &r->start_ns, NULL);
	if (!spec_live_read(fd, &live, NULL)) {
		r->counted = true;
		r->end_ns = live.drained_ns;
		r->live = !live.closed;
	}
	if (spec_session_walk(fd, spec_session_escaped(fd), add_event, &events, &err))
		log_warn("%s: %s", name, err.msg);
	names_sort(&events);
	for (size_t i = 0; i < events.len; i++)
		strbuf_printf(&r->events, "%s%s", i ? "," : "", events.data[i]);
	return is_called(j, name, fd);
}

static uint64_t seconds(const struct row *r)
{
	return r->start_ns && r->end_ns > r->start_ns
		       ? (r->end_ns - r->start_ns) / SPEC_NS_PER_S
		       : 0;
}

static void print_row(const struct row *r)
{
	CLEANUP(strbuf_fini) struct strbuf start = { 0 }, name = { 0 }, events = { 0 };
	CLEANUP(strbuf_fini) struct strbuf samples = { 0 }, lost = { 0 };

	if (r->counted) {
		strbuf_printf(&samples, "%" PRIu64, r->stats.value[SPEC_STAT_STORED]);
		strbuf_printf(&lost, "%" PRIu64, spec_stats_lost(&r->stats));
	}
	if (r->start_ns)
		spec_clock_utc(r->start_ns / SPEC_NS_PER_S * SPEC_NS_PER_S, &start);
	/* what somebody else called them does nothing to a terminal */
	escape_text(&name, r->name);
	escape_text(&events, strbuf_str(&r->events));
	printf("%-22s %-20s %7" PRIu64 "s %10s %8s %8" PRIu64 "K %s\n", strbuf_str(&name),
	       start.len ? strbuf_str(&start) : "-", seconds(r),
	       samples.len ? strbuf_str(&samples) : "-",
	       lost.len ? strbuf_str(&lost) : "-", r->bytes >> 10,
	       events.len ? strbuf_str(&events) : "-");
}

static void add_json(struct json *out, const struct row *r)
{
	CLEANUP(strbuf_fini) struct strbuf start = { 0 };

	if (r->start_ns)
		spec_clock_utc(r->start_ns, &start);
	json_line(out);
	json_open(out, '{');
	json_text(out, "name", r->name);
	json_text(out, "start", start.len ? strbuf_str(&start) : NULL);
	json_count(out, "seconds", seconds(r));
	json_figure(out, "samples", r->counted, r->stats.value[SPEC_STAT_STORED]);
	json_figure(out, "lost", r->counted, spec_stats_lost(&r->stats));
	json_count(out, "bytes", r->bytes);
	json_text(out, "events", strbuf_str(&r->events));
	json_flag(out, "open", r->live);
	json_close(out, '}');
}

static void tell_unread(const struct row *r)
{
	fflush(stdout); /* both are read in the order they were told */
	log_err("session %s cannot be read: %s%s", r->name, strerror(-r->rc),
		r->rc == -EACCES ? " (its owner can: chmod o+rx)" : "");
}

static int list(struct job *j, char **names, size_t nr, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	struct json out = { .out = &text };

	int rc = 0;

	(void)names;
	(void)nr;
	(void)err;
	if (j->json)
		json_open(&out, '[');
	else
		printf("%-22s %-20s %8s %10s %8s %9s %s\n", "NAME", "START", "LENGTH",
		       "SAMPLES", "LOST", "SIZE", "EVENTS");
	for (size_t i = 0; i < j->names.len; i++) {
		struct row r;

		for (int tries = 0;
		     !read_row(j, j->names.data[i], &r) && tries < MAX_TRIES; tries++)
			strbuf_fini(&r.events);
		if (r.rc == -ENOENT) /* removed meanwhile */
			continue;
		if (r.rc) {
			tell_unread(&r);
			rc = r.rc;
		} else if (j->json) {
			add_json(&out, &r);
		} else {
			print_row(&r);
		}
		strbuf_fini(&r.events);
	}
	if (j->json) {
		json_line(&out);
		json_close(&out, ']');
		puts(strbuf_str(&text));
	}
	return rc ? rc : strbuf_error(&text);
}

/* ---- rename, remove */

static int find(const struct job *j, const char *typed, const char **name,
		struct err *err)
{
	return coll_named_find(j->samples_fd, strbuf_str(&j->dir), &j->names, typed, name,
			       err);
}

static int rename_session(struct job *j, char **names, size_t nr, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
	CLEANUP(close_fd) int lock_fd = -1;
	const char *from, *to = names[1];
	int rc = find(j, names[0], &from, err);

	(void)nr;
	if (!rc)
		rc = coll_session_name_check(to, err);
	if (!rc && coll_session_name_is_time(to))
		rc = err_set(
			err, -EINVAL,
			"%s: such names are of rotated sessions, which --keep of the "
			"daemon may remove; choose another",
			to);
	if (!rc)
		rc = check_idle(j, from, &lock_fd, err);
	if (rc)
		return rc;
	escape_text(&shown, from);
	if (renameat2(j->samples_fd, from, j->samples_fd, to, RENAME_NOREPLACE))
		return errno == EEXIST ? err_set(err, -EEXIST,
						 "there is a session %s already; choose "
						 "another name, or remove it first",
						 to)
				       : err_errno(err, -errno, "renaming session %s",
						   strbuf_str(&shown));
	printf("session \"%s\" is now \"%s\"\n", strbuf_str(&shown), to);
	return 0;
}

static int remove_one(const struct job *j, const char *typed, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf shown = { 0 };
	CLEANUP(close_fd) int lock_fd = -1;
	char gone[COLL_GONE_NAME];
	const char *name;
	int rc = find(j, typed, &name, err);

	if (!rc)
		rc = check_idle(j, name, &lock_fd, err);
	if (!rc && !j->dry_run)
		rc = coll_keeper_take(j->samples_fd, name, gone, err);
	if (rc)
		return rc;
	escape_text(&shown, name);
	printf("session \"%s\" %s removed\n", strbuf_str(&shown),
	       j->dry_run ? "would be" : "is");
	if (j->dry_run)
		return 0;
	/* a daemon's keeper may be at it as well: what each leaves to the other */
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		struct err why = { 0 };

		rc = file_remove_tree(j->samples_fd, gone, &why);
		if (!rc || faccessat(j->samples_fd, gone, F_OK, AT_SYMLINK_NOFOLLOW))
			return 0;
		*err = why;
	}
	return rc;
}

/* Goes on with others if one cannot be removed. */
static int tell(int rc, const struct err *err)
{
	fflush(stdout); /* both are read in the order they were told */
	if (rc)
		log_err("%s", err->msg);
	return rc;
}

static int remove_matching(const struct job *j, const char *pattern)
{
	struct err err = { 0 };
	size_t matches = 0;
	int rc = 0;

	if (!strpbrk(pattern, "*?[") || coll_named_match(&j->names, pattern))
		return tell(remove_one(j, pattern, &err), &err);
	for (size_t i = 0; i < j->names.len; i++) {
		const char *name = j->names.data[i];
		struct err why = { 0 };

		if (fnmatch(pattern, name, 0) != 0 || !strcmp(name, "current"))
			continue;
		matches++;
		if (tell(remove_one(j, name, &why), &why))
			rc = -EINVAL;
	}
	if (matches)
		return rc;
	err_set(&err, -ENOENT, "no session in %s matches %s (\"opcollect list\")",
		strbuf_str(&j->dir), pattern);
	return tell(err.code, &err);
}

static int remove_sessions(struct job *j, char **names, size_t nr, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		if (remove_matching(j, names[i]))
			rc = -EINVAL;
	(void)err; /* each was told */
	return rc;
}

/* ---- commands */

static int command(const struct opt_program *p, int argc, char **argv, size_t min,
		   size_t max,
		   int (*run)(struct job *j, char **names, size_t nr, struct err *err))
{
	CLEANUP(job_fini) struct job j = { .dir_fd = -1, .samples_fd = -1 };
	CLEANUP(free_ptr)
	char **words = calloc((size_t)argc + 1, sizeof(*words));
	struct err err = { 0 };
	enum opt_result result;
	int operands, rc;
	size_t nr;

	log_init(p->name);
	if (!words) {
		log_err("out of memory");
		return EXIT_FAILED;
	}
	memcpy(words, argv, (size_t)argc * sizeof(*words)); /* they are moved about */
	result = opt_parse_all(p, argc, words, &j, &operands);
	if (result != OPT_RUN)
		return opt_exit(result);
	nr = (size_t)operands;
	if (nr < min || nr > max) {
		fprintf(stderr, "%s: %s\ntry '%s --help'\n", p->name,
			!max       ? "no operands are expected"
			: max == 2 ? "give OLD and NEW"
				   : "which session? Give a NAME",
			p->name);
		return OPT_EXIT_USAGE;
	}
	if (j.ask_daemon)
		return coll_client(argc, argv);
	rc = open_dir(&j, &err);
	/* who may not write there may be one of those who may tell the daemon */
	if (!rc && run == remove_sessions && !j.given && !j.dry_run &&
	    faccessat(j.samples_fd, ".", W_OK, AT_EACCESS)) {
		log_note("%s/samples: %s: the daemon is asked", strbuf_str(&j.dir),
			 strerror(errno));
		return coll_client(argc, argv);
	}
	if (!rc)
		rc = run(&j, words + 1, nr, &err);
	if (err.code)
		log_err("%s", err.msg);
	return output_end(p->name) || rc ? EXIT_FAILED : 0;
}

int coll_sessions_list(int argc, char **argv)
{
	return command(&list_program, argc, argv, 0, 0, list);
}

int coll_sessions_rename(int argc, char **argv)
{
	return command(&rename_program, argc, argv, 2, 2, rename_session);
}

int coll_sessions_remove(int argc, char **argv)
{
	return command(&remove_program, argc, argv, 1, SIZE_MAX, remove_sessions);
}
