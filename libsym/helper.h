/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_HELPER_H
#define LIBSYM_HELPER_H

#include "base/box/box.h"

/* Exit statuses of a job's process; anything else than these and 0 is a crash. */
enum {
	SYM_HELPER_FAILED = 70,
	SYM_HELPER_NO_MEMORY,
	SYM_HELPER_TOO_BIG,
	SYM_HELPER_REFUSED, /* nonsense was asked for; the answer is the reason's text */
};

/* The box (base/box/box.h) whose jobs are answers to requests (libsym/request.h). */
extern const struct box_kind sym_helper_box;

#endif
