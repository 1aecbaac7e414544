/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_GUARD_H
#define LIBSYM_FILE_GUARD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * File systems that paths must not lead into, whoever asks.  Files of procfs, sysfs and
 * the like are made by the kernel for the process that reads them: they would tell about
 * the helper, and reading some does something.  A mount of opfs may be the one that asks:
 * it would wait for itself.
 */

/**
 * sym_guard - may what a descriptor of O_PATH stands for be looked at?
 * @dev: of it
 * @autofs: set: nothing is mounted there before somebody enters it
 * Asks no mount of opfs anything.  0, or -EXDEV.
 */
int sym_guard(int fd, dev_t dev, bool *autofs);

#endif
