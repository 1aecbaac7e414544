/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/zygote.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libsym/helper.h"
#include "libsym/request.h"
#include "libsym/sandbox.h"
#include "libsym/server.h"

enum { MAX_JOBS = 64 };

struct job {
	pid_t pid; /* 0: ended, only the trailer is still to be sent */
	int fd;    /* our copy of its socket */
	int64_t deadline_ms;
	bool killed;
	struct sym_trailer trailer;
};

struct zygote {
	int control, signals;
	struct job jobs[MAX_JOBS];
	size_t nr;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ll + t.tv_nsec / 1000000;
}

static int make_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_SETMASK, &set, NULL))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void drop_job(struct zygote *z, size_t at)
{
	close(z->jobs[at].fd);
	z->jobs[at] = z->jobs[--z->nr];
}

static void kill_job(struct job *j, enum sym_end why)
{
	if (j->killed || !j->pid)
		return;
	j->killed = true;
	j->trailer.end = why;
	kill(j->pid, SIGKILL);
}

static void start_job(struct zygote *z, int fd, const struct sym_limits *limits)
{
	pid_t self = getpid();
	struct job j = {
		.fd = fd,
		.deadline_ms = now_ms() + limits->deadline_ms,
		.trailer.magic = SYM_TRAILER_MAGIC,
	};

	j.pid = fork();
	if (!j.pid)
		sym_helper_child(fd, self, limits->cpu_s);
	if (j.pid < 0) {
		j.pid = 0;
		j.trailer.status = SYM_HELPER_FAILED << 8;
	}
	z->jobs[z->nr++] = j;
}

/* False when the program that started us has gone. */
static bool take_message(struct zygote *z)
{
	struct sym_zygote_message m;
	struct iovec iov = { .iov_base = &m, .iov_len = sizeof(m) };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t n = recvmsg(z->control, &msg, MSG_CMSG_CLOEXEC);
	struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	int fd;

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return true;
	if (n <= 0)
		return false;
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(sizeof(fd)))
		return true;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	if (n == sizeof(m))
		start_job(z, fd, &m.limits);
	else
		close(fd);
	return true;
}

static void reap(struct zygote *z)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(z->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		for (size_t i = 0; i < z->nr; i++)
			if (z->jobs[i].pid == pid) {
				z->jobs[i].pid = 0;
				z->jobs[i].trailer.status = status;
			}
}

/* What happened to a job's socket, or to its time. */
static void look_after(struct zygote *z, size_t at, short events)
{
	struct job *j = &z->jobs[at];

	if (j->pid) {
		if (events & (POLLHUP | POLLERR))
			kill_job(j, SYM_END_ITSELF); /* nobody waits any more */
		else if (now_ms() >= j->deadline_ms)
			kill_job(j, SYM_END_DEADLINE);
		return;
	}
	if (send(j->fd, &j->trailer, sizeof(j->trailer), MSG_NOSIGNAL | MSG_DONTWAIT) <
		    0 &&
	    errno == EAGAIN)
		return;
	drop_job(z, at);
}

static int next_timeout(const struct zygote *z)
{
	int64_t first = INT64_MAX, now = now_ms();

	for (size_t i = 0; i < z->nr; i++)
		if (z->jobs[i].pid && !z->jobs[i].killed &&
		    z->jobs[i].deadline_ms < first)
			first = z->jobs[i].deadline_ms;
	if (first == INT64_MAX)
		return -1;
	return first <= now ? 0 : (int)(first - now) + 1;
}

static bool run_once(struct zygote *z)
{
	struct pollfd fds[MAX_JOBS + 2];
	size_t nr = z->nr;

	fds[0] = (struct pollfd){ z->signals, POLLIN, 0 };
	fds[1] = (struct pollfd){ nr < MAX_JOBS ? z->control : -1, POLLIN, 0 };
	for (size_t i = 0; i < nr; i++) {
		const struct job *j = &z->jobs[i];

		fds[i + 2] = (struct pollfd){ j->pid && j->killed ? -1 : j->fd,
					      j->pid ? 0 : POLLOUT, 0 };
	}
	if (poll(fds, nr + 2, next_timeout(z)) < 0)
		return errno == EINTR;
	for (size_t i = nr; i-- > 0;) /* from behind: dropping moves the last one */
		look_after(z, i, fds[i + 2].revents);
	if (fds[0].revents)
		reap(z);
	return !fds[1].revents || take_message(z);
}

int sym_zygote_run(int fd)
{
	struct zygote *z = calloc(1, sizeof(*z));
	int status = 1;

	prctl(PR_SET_NAME, "opfs-symbols", 0, 0, 0);
	if (!z)
		return status;
	z->control = fd;
	z->signals = make_signals();
	if (z->signals >= 0 && !sym_sandbox_prepare(NULL)) {
		while (run_once(z))
			;
		status = 0;
	}
	free(z);
	return status; /* jobs under way die with us */
}

bool sym_helper_wanted(int argc, char **argv)
{
	return argc == 2 &&
	       !strncmp(argv[1], SYM_ZYGOTE_OPTION, strlen(SYM_ZYGOTE_OPTION));
}

int sym_helper_main(int argc, char **argv)
{
	int fd = argc == 2 ? atoi(argv[1] + strlen(SYM_ZYGOTE_OPTION)) : -1;

	return fd == SYM_ZYGOTE_FD ? sym_zygote_run(fd) : 2;
}
