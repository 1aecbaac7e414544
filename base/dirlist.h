/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_DIRLIST_H
#define BASE_DIRLIST_H

#include "base/names.h"

/* What is in the directory @fd, which stays open, sorted, without "." and "..".  0 or
 * -errno, @out untouched then. */
int dirlist_read(int fd, struct names *out);

#endif
