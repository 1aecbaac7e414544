/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cost ROUNDS [HZ]: prints the nanoseconds that ROUNDS of a loop took; with HZ, while the
 * kernel's perf interface samples the CPU by its clock, into a ring that nobody reads.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RING_PAGES = 256, PAGE = 4096 };

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int sample_by_perf(unsigned long hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000000UL / hz,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER,
		.write_backward = 1, /* goes on over what it wrote first */
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (fd < 0)
		return -1;
	if (mmap(NULL, (1 + RING_PAGES) * PAGE, PROT_READ, MAP_SHARED, fd, 0) ==
	    MAP_FAILED)
		return -1;
	return fd;
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 0) : 0;
	unsigned long hz = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	long long began;

	if (!rounds)
		return 2;
	if (hz && sample_by_perf(hz) < 0) {
		perror("perf_event_open");
		return 1;
	}
	began = now_ns();
	while (rounds--)
		__asm__ volatile("" : "+r"(rounds));
	printf("%lld\n", now_ns() - began);
	return 0;
}
