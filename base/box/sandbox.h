/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BOX_SANDBOX_H
#define BASE_BOX_SANDBOX_H

#include "base/err.h"

#define SANDBOX_MEMORY (512u << 20)

/* Prepares the filter once, before any job: 0 or -errno. */
int sandbox_prepare(struct err *err);

/* Limits for this process: memory, processor time, files.  0 or -errno. */
int sandbox_limit(unsigned cpu_seconds, struct err *err);

/**
 * sandbox_enter - only reading files and writing to BOX_FD from now on
 * Other system calls fail with EPERM: no network, no new process, no signals, nothing
 * written; Landlock, where the kernel has it, refuses to write and to execute once more.
 * On a kernel without either the limits above are all there is.  The filter is left out
 * where the address sanitizer needs more.
 */
int sandbox_enter(struct err *err);

#endif
