/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/run/watch.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/who/procfs.h"

enum { FD_SOURCE, FD_SIGNALS, FD_PROCESSES };

static bool is_ignored(int sig)
{
	struct sigaction now;

	return !sigaction(sig, NULL, &now) && now.sa_handler == SIG_IGN;
}

void coll_watch_begin(struct coll_watch *w)
{
	sigset_t set;

	sigemptyset(&set);
	/* jobs in the background of a script ignore SIGINT; a signal that is blocked
	 * comes all the same, and the command goes on ignoring it */
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	w->begun = !sigprocmask(SIG_BLOCK, &set, &w->old_mask);
}

int coll_watch_init(struct coll_watch *w, struct err *err)
{
	struct pollfd none = { .fd = -1, .events = POLLIN };
	sigset_t set;
	int fd;

	if (!w->begun)
		coll_watch_begin(w);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!is_ignored(SIGHUP)) /* nohup: it is not to end */
		sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	if (!w->begun || sigprocmask(SIG_BLOCK, &set, NULL))
		return err_errno(err, -errno, "signals");
	if (vec_push(&w->fds, none) || vec_push(&w->fds, none))
		return err_errno(err, -ENOMEM, "signals");
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return err_errno(err, -errno, "signalfd");
	w->fds.data[FD_SIGNALS].fd = fd;
	return 0;
}

void coll_watch_fini(struct coll_watch *w)
{
	for (size_t i = FD_SIGNALS; i < w->fds.len; i++)
		if (w->fds.data[i].fd >= 0)
			close(w->fds.data[i].fd);
	vec_fini(&w->fds);
}

void coll_watch_source(struct coll_watch *w, int fd)
{
	w->fds.data[FD_SOURCE].fd = fd;
}

static int add_process(struct coll_watch *w, uint32_t tgid, struct err *err)
{
	struct pollfd p = { .events = POLLIN };

	p.fd = (int)syscall(SYS_pidfd_open, (pid_t)tgid, 0);
	if (p.fd < 0)
		return err_errno(err, -errno, "process %u", tgid);
	if (vec_push(&w->fds, p)) {
		close(p.fd);
		return err_errno(err, -ENOMEM, "process %u", tgid);
	}
	w->alive++;
	return 0;
}

int coll_watch_processes(struct coll_watch *w, struct ids *pids, struct err *err)
{
	size_t nr = pids->len;
	int rc = 0;

	pids->len = 0;
	for (size_t i = 0; !rc && i < nr; i++) {
		uint32_t pid = pids->data[i], tgid = coll_proc_tgid(pid);

		if (!tgid)
			return err_set(err, -ESRCH,
				       "-p %u: there is no such process (has it ended?)",
				       pid);
		if (ids_has(pids, tgid))
			continue;
		pids->data[pids->len++] = tgid;
		rc = add_process(w, tgid, err);
	}
	return rc;
}

void coll_watch_let_through(const struct coll_watch *w)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &w->old_mask, NULL);
}

static void take_signals(struct coll_watch *w, struct coll_launch *l)
{
	struct signalfd_siginfo info;

	while (read(w->fds.data[FD_SIGNALS].fd, &info, sizeof(info)) ==
	       (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		w->interrupts++;
		w->signal = (int)info.ssi_signo;
		w->alone |= is_ignored(w->signal);
		if (w->interrupts == 2)
			coll_watch_let_through(w);
		if (l->pid && !l->ended && info.ssi_code != SI_KERNEL)
			kill(l->pid, w->signal);
	}
	coll_launch_poll(l);
}

void coll_watch_wait(struct coll_watch *w, struct coll_launch *l, int timeout_ms)
{
	if (poll(w->fds.data, w->fds.len, timeout_ms) <= 0) {
		w->fds.data[FD_SOURCE].revents = 0;
		return;
	}
	if (w->fds.data[FD_SIGNALS].revents)
		take_signals(w, l);
	for (size_t i = FD_PROCESSES; i < w->fds.len; i++) {
		struct pollfd *p = &w->fds.data[i];

		if (p->fd < 0 || !p->revents)
			continue;
		close(p->fd);
		p->fd = -1;
		w->alive--;
	}
}

bool coll_watch_ready(const struct coll_watch *w)
{
	return w->fds.data[FD_SOURCE].revents;
}

bool coll_watch_done(const struct coll_watch *w, const struct coll_launch *l)
{
	bool processes = w->fds.len > FD_PROCESSES;

	if (l->pid)
		return l->ended || w->interrupts > 1 || w->alone;
	return w->interrupts || (processes && !w->alive);
}

int coll_watch_status(const struct coll_watch *w, const struct coll_launch *l)
{
	if (!l->pid)
		return 0;
	return l->ended ? coll_launch_exit_status(l) : 128 + w->signal;
}
