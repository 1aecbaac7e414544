/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_GUARD_H
#define LIBSPEC_SAMPLE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A mapped file whose disk fails, or that somebody cuts short, raises SIGBUS at the
 * access.  Under a guard the access reaches memory instead, which replaces the
 * whole mapping from then on, and the guard says that it failed: whoever wrote there
 * looks afterwards.
 *
 * The mapping is accessed by the thread that made the guard, and by no other.  A SIGBUS
 * that no guard of its thread is for goes where it went before.
 */
struct spec_guard {
	char *base;
	size_t len;
	volatile bool failed;
	struct spec_guard *next, **at; /* @at: what points to it */
};

/* How often a guard of this thread failed: 0 makes it needless to ask each of them. */
extern _Thread_local volatile unsigned spec_guard_failures
	__attribute__((tls_model("initial-exec")));

/* Heap; NULL: no memory. */
struct spec_guard *spec_guard_new(void *base, size_t len);
/* Before the mapping is undone; NULL is fine. */
void spec_guard_free(struct spec_guard *g);

/* Whether anything stored or read so far may have been replacement memory. */
static inline bool spec_guard_failed(const struct spec_guard *g)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* after the accesses */
	return __builtin_expect(spec_guard_failures != 0, 0) && g && g->failed;
}

#endif
