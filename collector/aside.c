/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/aside.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"

enum { MAX_STUCK = 16, KEEP_BYTES = 1 << 20 };

typedef void (*work_fn)(struct coll_aside *a);

/* The process that works, if there is one, and those that were given up. */
static pid_t worker;
static int channel = -1;
static struct coll_aside *area; /* of @worker */
static pid_t given_up[MAX_STUCK];

static const size_t area_size = sizeof(struct coll_aside) + COLL_ASIDE_MAX;

/* ---- the other process */

_Noreturn static void serve(int fd, struct coll_aside *a, pid_t parent)
{
	sigset_t none;
	work_fn work;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "opcollect-aside");
	sigemptyset(&none);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* a terminal's Ctrl-C is for the collector, which still has questions */
	signal(SIGINT, SIG_IGN);
	if (fd && dup2(fd, 0) < 0)
		_exit(1);
	close_range(1, ~0U, 0);
	while (getppid() == parent && read(0, &work, sizeof(work)) == (ssize_t)sizeof(work)) {
		work(a);
		if (write(0, "", 1) != 1)
			break;
	}
	_exit(0);
}

/* ---- this one */

unsigned coll_aside_stuck(void)
{
	unsigned nr = 0;

	for (int i = 0; i < MAX_STUCK; i++) {
		if (given_up[i] && waitpid(given_up[i], NULL, WNOHANG))
			given_up[i] = 0;
		nr += given_up[i] != 0;
	}
	return nr;
}

static void forget_worker(void)
{
	close_fd(&channel);
	channel = -1;
	if (area)
		munmap(area, area_size);
	area = NULL;
	worker = 0;
}

static int start_worker(void)
{
	pid_t parent = getpid();
	void *map;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return -EAGAIN;
	map = mmap(NULL, area_size, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED) {
		close(fds[0]);
		close(fds[1]);
		return -ENOMEM;
	}
	worker = fork();
	if (!worker)
		serve(fds[1], map, parent);
	close(fds[1]);
	channel = fds[0];
	area = map;
	if (worker > 0)
		return 0;
	forget_worker();
	return -EAGAIN;
}

/* It may not be able to die; what it holds is its own. */
static void give_up(void)
{
	kill(worker, SIGKILL);
	for (int i = 0; i < MAX_STUCK; i++)
		if (!given_up[i]) {
			given_up[i] = worker;
			break;
		}
	forget_worker();
}

static int wait_for_answer(int ms)
{
	struct pollfd p = { .fd = channel, .events = POLLIN };
	char done;
	int rc;

	do
		rc = poll(&p, 1, ms);
	while (rc < 0 && errno == EINTR);
	return rc > 0 && read(channel, &done, 1) == 1 ? 0 : -ETIMEDOUT;
}

static int ask(work_fn work, const void *in, size_t len)
{
	if (!worker) {
		int rc = start_worker();

		if (rc)
			return rc;
	}
	area->len = len;
	memcpy(area->data, in, len);
	/* one that somebody killed is replaced */
	return send(channel, &work, sizeof(work), MSG_NOSIGNAL) == (ssize_t)sizeof(work) ?
		       0 :
		       -EPIPE;
}

int coll_aside(void (*work)(struct coll_aside *a), const void *in, size_t len,
	       struct strbuf *out, int ms)
{
	int rc;

	if (len > COLL_ASIDE_MAX)
		return -ENOMEM;
	if (!worker && coll_aside_stuck() == MAX_STUCK)
		return -EAGAIN;
	rc = ask(work, in, len);
	if (rc == -EPIPE) {
		give_up();
		rc = ask(work, in, len);
	}
	if (!rc)
		rc = wait_for_answer(ms);
	if (rc && worker)
		give_up();
	if (rc)
		return rc == -EPIPE ? -EAGAIN : rc;
	strbuf_add(out, area->data, area->len < COLL_ASIDE_MAX ? area->len : 0);
	if (area->len > KEEP_BYTES || len > KEEP_BYTES)
		madvise(area, area_size, MADV_REMOVE);
	return strbuf_error(out);
}

void coll_aside_end(void)
{
	if (worker)
		give_up();
}
