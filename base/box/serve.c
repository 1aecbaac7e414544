/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/box/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/box/pass.h"
#include "base/box/state.h"
#include "base/cleanup.h"
#include "base/clock.h"

enum { LOOK_MS = 100, MAX_ENDING = 256 };

#define NS_PER_MS 1000000ULL

struct job {
	pid_t pid; /* 0: ended, only the trailer is still to be sent */
	int fd;    /* our copy of its socket */
	struct box_limits limits;
	struct box_state state;
	bool killed; /* and not reaped yet */
	struct box_trailer trailer;
};

struct ending { /* a job that was killed and given up, but is not reaped yet */
	pid_t pid;
	uint32_t owner;
};

struct serve {
	const struct box_kind *kind;
	pid_t starter;
	int control, signals;
	uint64_t looked_ns; /* at the jobs, last */
	struct job jobs[BOX_MAX_JOBS];
	size_t nr;
	struct ending ending[MAX_ENDING];
	size_t nr_ending;
};

/* SIGHUP tells that a thread of our program has ended: perhaps the last one. */
static int make_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_SETMASK, &set, NULL) ||
	    prctl(PR_SET_PDEATHSIG, SIGHUP, 0, 0, 0))
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The other copies of its socket, in a job that cannot die, must not keep it open. */
static void drop_job(struct serve *s, size_t at)
{
	shutdown(s->jobs[at].fd, SHUT_RDWR);
	close(s->jobs[at].fd);
	s->jobs[at] = s->jobs[--s->nr];
}

/* The process goes on being killed, and the job is over. */
static void give_up(struct serve *s, struct job *j)
{
	kill(j->pid, SIGKILL);
	if (s->nr_ending < MAX_ENDING)
		s->ending[s->nr_ending++] = (struct ending){ j->pid, j->limits.owner };
	j->pid = 0;
}

static bool is_stuck(const struct serve *s, uint32_t owner)
{
	size_t nr = 0;

	for (size_t i = 0; i < s->nr_ending; i++)
		nr += s->ending[i].owner == owner;
	return owner && nr >= BOX_MAX_STUCK;
}

static void be_job(const struct serve *s, int fd, const struct box_limits *limits,
		   pid_t box) __attribute__((noreturn));
static void be_job(const struct serve *s, int fd, const struct box_limits *limits,
		   pid_t box)
{
	sigset_t none;

	sigemptyset(&none);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != box ||
	    dup2(fd, BOX_FD) < 0 || sigprocmask(SIG_SETMASK, &none, NULL))
		_exit(BOX_NO_JOB);
	closefrom(BOX_FD + 1);
	_exit(s->kind->job(box, limits));
}

static void start_job(struct serve *s, int fd, const struct box_limits *limits)
{
	pid_t self = getpid();
	struct job j = {
		.fd = fd,
		.limits = *limits,
		.trailer.magic = BOX_TRAILER_MAGIC,
	};

	if (is_stuck(s, limits->owner))
		j.trailer.end = BOX_END_BLOCKED;
	else
		j.pid = fork();
	if (!j.pid && j.trailer.end == BOX_END_ITSELF)
		be_job(s, fd, limits, self);
	if (j.pid <= 0) {
		j.pid = 0;
		j.trailer.status = BOX_NO_JOB << 8;
	}
	s->jobs[s->nr++] = j;
}

/* False when the program that started us has gone. */
static bool take_message(struct serve *s)
{
	struct box_limits limits;
	CLEANUP(close_fd) int fd = -1;
	ssize_t n = box_pass_receive(s->control, &limits, sizeof(limits), 0, &fd);

	if (n == sizeof(limits) && fd >= 0)
		start_job(s, take_fd(&fd), &limits);
	return n > 0 || n == -EAGAIN;
}

static void reap_one(struct serve *s, pid_t pid, int status)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->jobs[i].pid == pid) {
			s->jobs[i].pid = 0;
			s->jobs[i].trailer.status = status;
		}
	for (size_t i = 0; i < s->nr_ending; i++)
		if (s->ending[i].pid == pid)
			s->ending[i--] = s->ending[--s->nr_ending];
}

static void reap(struct serve *s)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(s->signals, &info, sizeof(info)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		reap_one(s, pid, status);
}

/* What happened to a job's socket. */
static void look_after(struct serve *s, size_t at, short events)
{
	struct job *j = &s->jobs[at];

	if (j->pid) {
		if (!(events & (POLLHUP | POLLERR)))
			return;
		give_up(s, j); /* nobody waits any more */
	} else if (send(j->fd, &j->trailer, sizeof(j->trailer),
			MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
		   errno == EAGAIN) {
		return;
	}
	drop_job(s, at);
}

static bool has_waited(struct job *j, uint64_t now_ns)
{
	const struct box_limits *l = &j->limits;
	uint64_t waited_ns = box_state_look(&j->state, j->pid, now_ns);

	return (l->blocked_ms && waited_ns >= l->blocked_ms * NS_PER_MS) ||
	       (l->waits_ms && j->state.all_ns >= l->waits_ms * NS_PER_MS);
}

static void look_at_job(struct serve *s, struct job *j, uint64_t now_ns)
{
	if (j->killed) { /* a file system that hangs may keep it for ever */
		give_up(s, j);
		j->trailer.status = SIGKILL;
	} else if (has_waited(j, now_ns)) {
		kill(j->pid, SIGKILL);
		j->killed = true;
		j->trailer.end = BOX_END_BLOCKED;
	}
}

static bool is_looked_at(const struct job *j)
{
	return j->pid && (j->limits.blocked_ms || j->limits.waits_ms);
}

static void look_at_jobs(struct serve *s)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns - s->looked_ns < LOOK_MS * NS_PER_MS)
		return;
	s->looked_ns = now_ns;
	for (size_t i = 0; i < s->nr; i++)
		if (is_looked_at(&s->jobs[i]))
			look_at_job(s, &s->jobs[i], now_ns);
}

static int next_timeout(const struct serve *s)
{
	for (size_t i = 0; i < s->nr; i++)
		if (is_looked_at(&s->jobs[i]))
			return LOOK_MS;
	return -1;
}

static bool run_once(struct serve *s)
{
	struct pollfd fds[BOX_MAX_JOBS + 2];
	size_t nr = s->nr;

	fds[0] = (struct pollfd){ s->signals, POLLIN, 0 };
	fds[1] = (struct pollfd){ nr < BOX_MAX_JOBS ? s->control : -1, POLLIN, 0 };
	for (size_t i = 0; i < nr; i++)
		fds[i + 2] =
			(struct pollfd){ s->jobs[i].fd, s->jobs[i].pid ? 0 : POLLOUT, 0 };
	if (poll(fds, nr + 2, next_timeout(s)) < 0)
		return errno == EINTR;
	for (size_t i = nr; i-- > 0;) /* from behind: dropping moves the last one */
		if (fds[i + 2].revents)
			look_after(s, i, fds[i + 2].revents);
	if (fds[0].revents)
		reap(s);
	look_at_jobs(s);
	if (getppid() != s->starter)
		return false;
	return !fds[1].revents || take_message(s);
}

/* Descriptor 2 is closed where our program's was; nothing else must come there. */
static int hold_stderr(void)
{
	if (fcntl(2, F_GETFD) < 0)
		return open("/dev/null", O_WRONLY) == 2 ? 0 : -1;
	return 0;
}

/* The process that made the control socket; 0 if it is no socket. */
static pid_t find_starter(void)
{
	struct ucred c = { 0 };
	socklen_t len = sizeof(c);

	return getsockopt(BOX_FD, SOL_SOCKET, SO_PEERCRED, &c, &len) ? 0 : c.pid;
}

int box_serve(const struct box_kind *kind)
{
	CLEANUP(free_ptr) struct serve *s = calloc(1, sizeof(*s));
	pid_t starter = find_starter();

	prctl(PR_SET_NAME, kind->name, 0, 0, 0);
	if (!starter)
		return BOX_UNKNOWN;
	if (!s || hold_stderr())
		return 1;
	s->kind = kind;
	s->starter = starter;
	s->control = BOX_FD;
	s->signals = make_signals();
	if (s->signals < 0 || (kind->prepare && kind->prepare()))
		return 1;
	/* jobs under way die with us */
	while (getppid() == starter && run_once(s))
		;
	return 0;
}
