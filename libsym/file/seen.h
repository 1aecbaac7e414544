/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_FILE_SEEN_H
#define LIBSYM_FILE_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strbuf.h"

/*
 * What a job in a helper looked for at which paths, and found: while all of that is as it
 * was, its answer is what another job would answer.  A list is entries one behind the
 * other, each padded to 8 bytes:
 *
 *	struct sym_identity of the file, or that there was none
 *	the path, with its NUL
 *
 * Of the running kernel's own texts, which have no identity, there is the one entry of
 * SYM_SEEN_BOOT, whose dev and ino are the kernel's random number of this boot.
 */
#define SYM_SEEN_BOOT "/proc/sys/kernel/random/boot_id"
#define SYM_SEEN_MAX (64u << 10) /* bytes of a list; a longer one is no list */

/* Begins a list, or ends it: NULL.  A process has one, since a job is a process. */
void sym_seen_begin(struct strbuf *list);

/* A path was looked up; @fd: what it led to, or -errno. */
void sym_seen_file(const char *path, int fd);
/* Something of the running kernel that stays while it runs. */
void sym_seen_boot(void);
/* Something that cannot be told by a list: it is none. */
void sym_seen_doubt(void);

/* Adds a file that is about to be read to a list of somebody else, which fails if that is
 * no list then. */
void sym_seen_add(struct strbuf *list, const char *path);

/* True if the list, of whose bytes nothing is known, is one and all is as it was then. */
bool sym_seen_holds(const void *list, size_t len);

#endif
