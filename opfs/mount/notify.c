/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/mount/notify.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "base/thread.h"

enum { STOP_WAIT_S = 2 };

struct notify {
	void (*changed)(void *ctx, const char *name, bool same);
	void *ctx;
	char *samples; /* path */
	int fd, stop_fd;
	atomic_bool stopped;
	int dir_watch, samples_watch; /* -1: not there */
	pthread_t thread;
};

static void watch_samples(struct notify *n)
{
	n->samples_watch =
		inotify_add_watch(n->fd, n->samples,
				  IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
					  IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
					  IN_ONLYDIR);
}

/* The directory samples/ itself appeared, vanished, or was replaced. */
static void watch_again(struct notify *n)
{
	if (n->samples_watch >= 0)
		inotify_rm_watch(n->fd, n->samples_watch);
	watch_samples(n);
	n->changed(n->ctx, NULL, false);
}

static void handle_event(struct notify *n, const struct inotify_event *e)
{
	bool is_samples = e->len && !strcmp(e->name, "samples");

	if (e->mask & IN_Q_OVERFLOW)
		watch_again(n);
	else if (e->wd == n->dir_watch && e->mask & IN_ATTRIB && (is_samples || !e->len))
		n->changed(n->ctx, NULL, true); /* who may see them */
	else if (e->wd == n->dir_watch && is_samples)
		watch_again(n);
	else if (e->wd == n->samples_watch && e->len)
		n->changed(n->ctx, e->name, e->mask & IN_ATTRIB);
	else if (e->wd == n->samples_watch && e->mask & (IN_DELETE_SELF | IN_MOVE_SELF))
		watch_again(n);
}

static void drain(struct notify *n)
{
	char buf[16 << 10] __attribute__((aligned(__alignof__(struct inotify_event))));
	const struct inotify_event *e;
	ssize_t len = read(n->fd, buf, sizeof(buf));

	for (ssize_t at = 0; at < len && !atomic_load(&n->stopped);
	     at += (ssize_t)(sizeof(*e) + e->len)) {
		e = (const void *)(buf + at);
		handle_event(n, e);
	}
}

static void *thread_main(void *arg)
{
	struct notify *n = arg;
	struct pollfd fds[] = { { .fd = n->fd, .events = POLLIN },
				{ .fd = n->stop_fd, .events = POLLIN } };

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return NULL;
		if (fds[1].revents)
			return NULL;
		if (fds[0].revents)
			drain(n);
	}
}

static void notify_free(struct notify *n)
{
	if (n->fd >= 0)
		close(n->fd);
	if (n->stop_fd >= 0)
		close(n->stop_fd);
	free(n->samples);
	free(n);
}

static int start(struct notify *n, const char *session_dir, struct err *err)
{
	struct strbuf path = { 0 };
	int rc;

	strbuf_printf(&path, "%s/samples", session_dir);
	n->samples = strbuf_take(&path);
	if (!n->samples)
		return err_set(err, -ENOMEM, "out of memory");
	n->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	n->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (n->fd < 0 || n->stop_fd < 0)
		return err_errno(err, -errno, "cannot watch %s", session_dir);
	n->dir_watch = inotify_add_watch(n->fd, session_dir,
					 IN_CREATE | IN_DELETE | IN_MOVED_FROM |
						 IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR);
	if (n->dir_watch < 0)
		return err_errno(err, -errno, "cannot watch %s", session_dir);
	watch_samples(n);
	/* absent is fine; present but unwatchable is not */
	if (n->samples_watch < 0 && errno != ENOENT)
		return err_errno(err, -errno, "cannot watch %s", n->samples);
	rc = thread_start(&n->thread, thread_main, n);
	return rc ? err_errno(err, rc, "cannot start a thread") : 0;
}

int notify_start(const char *session_dir,
		 void (*changed)(void *ctx, const char *name, bool same), void *ctx,
		 struct notify **out, struct err *err)
{
	struct notify *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return err_set(err, -ENOMEM, "out of memory");
	n->changed = changed;
	n->ctx = ctx;
	n->fd = n->stop_fd = n->dir_watch = n->samples_watch = -1;
	rc = start(n, session_dir, err);
	if (rc)
		notify_free(n);
	else
		*out = n;
	return rc;
}

bool notify_stop(struct notify *n)
{
	struct timespec until;

	if (!n)
		return true;
	atomic_store(&n->stopped, true);
	if (eventfd_write(n->stop_fd, 1))
		return false;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STOP_WAIT_S;
	/* the thread may be blocked in the kernel by a lookup that is never answered:
	 * then it ends with the program */
	if (pthread_timedjoin_np(n->thread, NULL, &until))
		return false;
	notify_free(n);
	return true;
}
