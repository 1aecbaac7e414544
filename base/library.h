/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_LIBRARY_H
#define BASE_LIBRARY_H

#include <stddef.h>

#include "base/err.h"

/*
 * Shared libraries that few runs of a program need: they are loaded when they are, for
 * with all that they need themselves they would make each start take longer.
 */
struct library_function {
	const char *name;
	size_t at; /* in the caller's struct: a pointer to the function */
};

/**
 * library_load - loads a library and finds its functions
 * @soname: "libarchive.so.13"
 * @package: what to install if it is not there; for the message
 * @to: where the pointers go
 * It stays loaded, for not every library can be unloaded.  0; -ENOENT.
 */
int library_load(const char *soname, const char *package,
		 const struct library_function *functions, size_t nr, void *to,
		 struct err *err);

#endif
