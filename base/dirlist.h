/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_DIRLIST_H
#define BASE_DIRLIST_H

#include <stddef.h>

#include "base/names.h"

/* What is in the directory @fd, which stays open, sorted, without "." and "..".  0 or
 * -errno, @out untouched then. */
int dirlist_read(int fd, struct names *out);

/* The same, each with what readdir(3) says it is: DT_UNKNOWN if that is not known. */
struct dirlist_entry {
	char *name;
	unsigned char type;
};
struct dirlist {
	struct dirlist_entry *data;
	size_t len, cap;
};
int dirlist_read_types(int fd, struct dirlist *out);
/* The same of a descriptor that nobody else uses, and from where it stands: one that was
 * just opened.  That takes three system calls fewer. */
int dirlist_read_rest(int fd, struct dirlist *out);
void dirlist_fini(struct dirlist *l);

#endif
