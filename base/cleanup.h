/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLEANUP_H
#define BASE_CLEANUP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Guards: a variable declared with CLEANUP(x_fini) is given to x_fini at the end of its
 * scope.  Every _fini accepts a zeroed and a half-built object.
 */
#define CLEANUP(fini) __attribute__((cleanup(fini)))

/* The value of @var, leaving it zeroed: hands a guarded object over to somebody else. */
#define TAKE(var)                                                                        \
	({                                                                               \
		__typeof__(var) taken_ = (var);                                          \
		(var) = (__typeof__(var)){ 0 };                                          \
		taken_;                                                                  \
	})

/* CLEANUP(free_ptr) char *s = ...; */
static inline void free_ptr(void *pp)
{
	free(*(void **)pp);
}

/* CLEANUP(close_fd) int fd = -1; a negative descriptor is none. */
static inline void close_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* The descriptor in @fd, leaving -1: TAKE() would leave descriptor 0. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

/* CLEANUP(close_dir) DIR *d = NULL; */
static inline void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* CLEANUP(close_file) FILE *f = NULL; */
static inline void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

#endif
