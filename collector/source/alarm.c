/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/source/alarm.h"

#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "collector/source/perf_open.h"

enum { RING_PAGES = 2 }; /* one to control it, and one of records */

static size_t ring_bytes(void)
{
	return RING_PAGES * (size_t)sysconf(_SC_PAGESIZE);
}

static bool add_ring(struct coll_alarm *a, int fd)
{
	/* read only: the kernel writes over what is in it */
	void *ring = mmap(NULL, ring_bytes(), PROT_READ, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		return false;
	if (!vec_push(&a->rings, ring))
		return true;
	munmap(ring, ring_bytes());
	return false;
}

static bool add_cpu(struct coll_alarm *a, int cpu)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	int fd = coll_perf_open_alarm(cpu);

	if (fd < 0)
		return false;
	if (vec_push(&a->fds, fd)) {
		close(fd);
		return false;
	}
	return add_ring(a, fd) && !epoll_ctl(a->epoll, EPOLL_CTL_ADD, fd, &ev);
}

void coll_alarm_init(struct coll_alarm *a, int rings, const struct ids *cpus)
{
	struct epoll_event ev = { .events = EPOLLIN };
	bool ok;

	*a = (struct coll_alarm){ .epoll = epoll_create1(EPOLL_CLOEXEC) };
	ok = a->epoll >= 0 && !epoll_ctl(a->epoll, EPOLL_CTL_ADD, rings, &ev);
	for (size_t i = 0; i < cpus->len && ok; i++)
		ok = add_cpu(a, (int)cpus->data[i]);
	if (!ok)
		coll_alarm_fini(a);
}

void coll_alarm_fini(struct coll_alarm *a)
{
	vec_for(&a->rings, ring)
		munmap(*ring, ring_bytes());
	vec_for(&a->fds, fd)
		close(*fd);
	vec_fini(&a->rings);
	vec_fini(&a->fds);
	close_fd(&a->epoll);
	a->epoll = -1;
}

bool coll_forget_wakeups(int epoll)
{
	struct epoll_event events[16];
	int nr = epoll < 0 ? 0 : epoll_wait(epoll, events, 16, 0);
	bool any = nr > 0;

	while (nr == 16)
		nr = epoll_wait(epoll, events, 16, 0);
	return any;
}
