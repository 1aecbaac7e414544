/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stuck [MS]: reads the driver's buffer into memory that is not there, and whose page
 * faults nobody resolves: its read() does not end.  With MS each fault is resolved after
 * so many milliseconds, and it reads on until the stream ends.  Says "open", and "stuck"
 * the first time that it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIZE = 1 << 20 };

static int faults;
static useconds_t pause_us;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static char *memory_that_faults(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (at == MAP_FAILED || faults < 0 || ioctl(faults, UFFDIO_API, &api))
		fail("userfaultfd");
	range.range.start = (uintptr_t)at;
	range.range.len = SIZE;
	if (ioctl(faults, UFFDIO_REGISTER, &range))
		fail("UFFDIO_REGISTER");
	return at;
}

static void *watch(void *unused)
{
	struct uffd_msg fault;
	bool told = false;

	while (read(faults, &fault, sizeof(fault)) == sizeof(fault)) {
		struct uffdio_zeropage page = { .range.len = 4096 };

		if (!told)
			puts("stuck");
		fflush(stdout);
		told = true;
		if (!pause_us)
			continue;
		usleep(pause_us);
		page.range.start = fault.arg.pagefault.address & ~4095ULL;
		if (ioctl(faults, UFFDIO_ZEROPAGE, &page) && errno != EEXIST)
			fail("UFFDIO_ZEROPAGE");
	}
	return unused;
}

int main(int argc, char **argv)
{
	char *at = memory_that_faults();
	pthread_t watcher;
	ssize_t got;
	int fd;

	if (argc > 1)
		pause_us = (useconds_t)atoi(argv[1]) * 1000;
	fd = open("/dev/oprofile/buffer", O_RDONLY);
	if (fd < 0)
		fail("buffer");
	puts("open");
	fflush(stdout);
	if (pthread_create(&watcher, NULL, watch, NULL))
		fail("pthread_create");
	do {
		madvise(at, SIZE, MADV_DONTNEED);
		got = read(fd, at, SIZE);
	} while (got > 0);
	if (got < 0)
		fail("read");
	return 0;
}
