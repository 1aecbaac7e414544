/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/mount.h"

#define FUSE_USE_VERSION 314
#include <fuse_lowlevel.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "libspec/session/session.h"
#include "opfs/cli/where.h"
#include "opfs/mount/check.h"
#include "opfs/mount/fuse_ops.h"
#include "opfs/mount/notify.h"
#include "opfs/mount/options.h"
#include "opfs/tree/tree.h"

/* Threads of libfuse, which answer what takes no time. */
enum { LOOP_THREADS = 8 };

enum { LARGE_BYTES = 128 << 10 };

/* What libfuse said last: why a mount failed. */
static char fuse_said[200];

static void fuse_says(enum fuse_log_level level, const char *fmt, va_list ap)
{
	char line[sizeof(fuse_said)];
	size_t len;

	vsnprintf(line, sizeof(line), fmt, ap);
	len = strlen(line);
	while (len && line[len - 1] == '\n')
		line[--len] = '\0';
	if (level >= FUSE_LOG_DEBUG)
		fprintf(stderr, "%s\n", line);
	else
		memcpy(fuse_said, line, len + 1);
}

/* One mount, and all that it consists of. */
struct mount {
	const struct mount_options *o;
	const char *session_dir; /* absolute */
	int ready_fd;            /* -1: no process waits for the mount to be ready */
	int null_fd;             /* opened before the mount, which may be on /dev */
	struct tree *tree;
	struct fuse_fs *fs;
	struct fuse_session *session;
	struct notify *notify;
	bool mounted, signals;
};

static int add_option(char **options, const char *text, const char *value)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	strbuf_printf(&b, "%s%s", text, value ? value : "");
	if (strbuf_error(&b) || fuse_opt_add_opt_escaped(options, strbuf_str(&b)))
		return -ENOMEM;
	return 0;
}

/* The command line that libfuse reads. */
static int fuse_arguments(const struct mount *m, struct fuse_args *args)
{
	static const char *const always[] = {
		"ro", "nosuid", "nodev", "noexec", "default_permissions", "subtype=opfs"
	};
	CLEANUP(free_ptr) char *options = NULL;
	int rc = 0;

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]) && !rc; i++)
		rc = add_option(&options, always[i], NULL);
	if (!rc)
		rc = add_option(&options,
				"fsname=", m->o->fsname ? m->o->fsname : m->session_dir);
	if (!rc && m->o->allow_other)
		rc = add_option(&options, "allow_other", NULL);
	if (!rc && m->o->debug)
		rc = add_option(&options, "debug", NULL);
	if (!rc && (fuse_opt_add_arg(args, "opfs") || fuse_opt_add_arg(args, "-o") ||
		    fuse_opt_add_arg(args, options)))
		rc = -ENOMEM;
	return rc;
}

static int mount_session(struct mount *m, struct err *err)
{
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	int rc = fuse_arguments(m, &args);

	if (rc) {
		fuse_opt_free_args(&args);
		return err_set(err, rc, "out of memory");
	}
	m->session = fuse_session_new(&args, &fuse_fs_ops, fuse_fs_ops_size, m->fs);
	fuse_opt_free_args(&args);
	if (!m->session)
		return err_set(err, -EINVAL, "libfuse refuses: %s", fuse_said);
	m->signals = !fuse_set_signal_handlers(m->session);
	if (fuse_session_mount(m->session, m->o->mountpoint))
		return err_set(err, -EPERM, "%s: cannot mount here: %s", m->o->mountpoint,
			       *fuse_said ? fuse_said : "fusermount3 says why above");
	m->mounted = true;
	if (fuse_fs_hook(m->session))
		return err_set(err, -EIO, "%s: cannot talk to the kernel",
			       m->o->mountpoint);
	return 0;
}

/* The line about the mount in /status. */
static char *describe(const struct mount_options *o)
{
	struct strbuf text = { 0 };

	strbuf_printf(&text,
		      "%s, for %s, %zu MiB of cache, %zu MiB for open files, %u workers, "
		      "user %u",
		      o->mountpoint,
		      o->allow_other ? "all users (allow_other)" : "its user only",
		      o->cache_bytes >> 20, o->held_bytes >> 20, o->workers,
		      (unsigned)geteuid());
	return strbuf_take(&text);
}

static int set_up(struct mount *m, struct err *err)
{
	CLEANUP(free_ptr)
	char *about = describe(m->o); /* for /status, which does without it */
	struct tree_options t = {
		.session_dir = m->session_dir,
		.reports = m->o->reports,
		.shared = m->o->allow_other,
		.owner = geteuid(),
		.cache_bytes = m->o->cache_bytes,
		.mountpoint = m->o->mountpoint,
		.about = about,
	};
	struct fuse_fs_options f = { .shared = t.shared,
				     .workers = m->o->workers,
				     .held = m->o->held_bytes };
	int rc = tree_new(&t, &m->tree, err);

	f.tree = m->tree;
	if (!rc)
		rc = fuse_fs_new(&f, &m->fs, err);
	if (!rc)
		rc = mount_session(m, err);
	return rc;
}

/* Tells the parent process that the mount is there, and detaches from the terminal. */
static int ready(struct mount *m, struct err *err)
{
	if (m->ready_fd < 0)
		return 0;
	if (m->null_fd < 0 || chdir("/"))
		return err_errno(err, -errno, "cannot go into the background");
	for (int fd = 0; fd <= 2; fd++)
		dup2(m->null_fd, fd);
	if (write(m->ready_fd, "", 1) != 1)
		return -EPIPE;
	close(m->ready_fd);
	return 0;
}

static int loop(struct mount *m, struct err *err)
{
	struct fuse_loop_config *config;
	struct err why;
	int rc;

	fuse_fs_start(m->fs, m->session);
	/* without it the mount works, but the kernel caches less */
	if (notify_start(m->session_dir, fuse_fs_changed, m->fs, &m->notify, &why))
		log_warn("%s; what is shown is asked for anew every second", why.msg);
	else
		fuse_fs_watched(m->fs);
	config = fuse_loop_cfg_create();
	if (!config)
		return err_set(err, -ENOMEM, "out of memory");
	fuse_loop_cfg_set_max_threads(config, LOOP_THREADS);
	fuse_loop_cfg_set_idle_threads(config, LOOP_THREADS);
	rc = ready(m, err);
	if (!rc) {
		rc = fuse_session_loop_mt(m->session, config);
		/* a signal ends it like umount */
		rc = rc < 0 ? err_errno(err, rc, "lost the kernel") : 0;
	}
	fuse_loop_cfg_destroy(config);
	return rc;
}

/* A second signal must not kill a mount that is shutting down. */
static void ignore_signals(void)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], SIG_IGN);
}

static void take_down(struct mount *m)
{
	bool still = false;

	if (m->fs)
		fuse_fs_stop(m->fs);
	still = !notify_stop(m->notify);
	if (m->mounted)
		fuse_session_unmount(m->session);
	if (m->signals)
		ignore_signals();
	if (!still) {
		if (m->session)
			fuse_session_destroy(m->session);
		fuse_fs_free(m->fs);
		tree_free(m->tree);
	}
	*m = (struct mount){ 0 };
}

/* 0 when the mount has ended, 1 when it failed, with a message on stderr. */
static int serve(const struct mount_options *o, const char *session_dir, int ready_fd)
{
	CLEANUP(close_fd) int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct mount m = { .o = o,
			   .session_dir = session_dir,
			   .ready_fd = ready_fd,
			   .null_fd = null_fd };
	struct err err = { 0 };
	int rc;

	/* large texts go back to the system when they are closed: without this, malloc
	 * keeps what it has seen freed once */
	mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	file_raise_limit(); /* long texts are in files */
	fuse_set_log_func(fuse_says);
	rc = set_up(&m, &err);
	if (!rc)
		rc = loop(&m, &err);
	if (rc)
		log_err("%s", err.msg);
	take_down(&m);
	return rc ? 1 : 0;
}

/* Waits until the child says that it is ready, or has failed: the exit status. */
static int await(pid_t child, int ready_fd)
{
	int status;
	char byte;

	if (file_read_all(ready_fd, &byte, 1) == 1)
		return 0;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	if (WIFSIGNALED(status))
		log_err("the mount was ended by signal %d", WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
}

static int serve_in_background(const struct mount_options *o, const char *session_dir)
{
	int fds[2], status;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC)) {
		log_err("cannot make a pipe: %s", strerror(errno));
		return 1;
	}
	child = fork();
	if (child < 0) {
		log_err("cannot start a process: %s", strerror(errno));
		close(fds[0]);
		close(fds[1]);
		return 1;
	}
	if (!child) {
		close(fds[0]);
		setsid();
		return serve(o, session_dir, fds[1]);
	}
	close(fds[1]);
	status = await(child, fds[0]);
	close(fds[0]);
	return status;
}

static int check(struct mount_options *o, char **session_dir, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf dir = { 0 };
	struct where where = { 0 };
	char *full;
	int rc;

	where.from = spec_session_dir(o->session_dir, &dir);
	rc = strbuf_error(&dir);
	if (rc)
		return err_set(err, rc, "out of memory");
	where.dir = dir.data;
	where_tell(&where, "opfs mount");
	rc = mount_check_session(strbuf_str(&dir), session_dir, err);
	if (rc)
		where_explain(&where, err);
	else
		rc = mount_check_point(o->mountpoint, err);
	if (!rc)
		rc = mount_check_device(err);
	if (rc)
		return rc;
	/* the mount changes its working directory later */
	full = realpath(o->mountpoint, NULL);
	if (!full)
		return err_errno(err, -errno, "%s", o->mountpoint);
	free(o->mountpoint);
	o->mountpoint = full;
	return mount_check_apart(full, *session_dir, err);
}

int opfs_mount_main(const struct report_set *reports, int argc, char **argv)
{
	CLEANUP(mount_options_fini) struct mount_options o;
	CLEANUP(free_ptr) char *session_dir = NULL;
	struct err err;

	log_init("opfs mount");
	mount_options_init(&o);
	o.reports = reports;
	switch (mount_options_parse(&o, argc, argv)) {
	case MOUNT_WORDS_DONE:
		return 0;
	case MOUNT_WORDS_WRONG:
		return 2;
	case MOUNT_WORDS_RUN:
		break;
	}
	if (check(&o, &session_dir, &err)) {
		log_err("%s", err.msg);
		return 1;
	}
	if (o.foreground)
		return serve(&o, session_dir, -1);
	return serve_in_background(&o, session_dir);
}
