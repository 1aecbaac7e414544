/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_DIRLIST_H
#define BASE_DIRLIST_H

#include <stddef.h>

/* For libspec's own use: what is in a directory, sorted, without "." and "..". */
struct spec_dirlist {
	char **names;
	size_t nr, cap;
};

/* Reads the directory @fd, which stays open.  0 or -errno, @out untouched then. */
int spec_dirlist_read(int fd, struct spec_dirlist *out);
void spec_dirlist_fini(struct spec_dirlist *l);

#endif
