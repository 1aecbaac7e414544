/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/clock.h"

static uint64_t read_ns(clockid_t which)
{
	struct timespec ts;

	clock_gettime(which, &ts);
	return clock_ns_of(&ts);
}

uint64_t clock_mono_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_boot_ns(void)
{
	return read_ns(CLOCK_BOOTTIME);
}

uint64_t clock_real_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

uint64_t clock_thread_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}
