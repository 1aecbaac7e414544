/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_DIRLIST_H
#define BASE_DIRLIST_H

#include <stddef.h>

/* What is in a directory, sorted, without "." and "..". */
struct dirlist {
	char **names;
	size_t nr, cap;
};

/* Reads the directory @fd, which stays open.  0 or -errno, @out untouched then. */
int dirlist_read(int fd, struct dirlist *out);
/* Frees the names; the list is empty then and may be read again. */
void dirlist_fini(struct dirlist *l);

#endif
