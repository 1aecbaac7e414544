/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_JOB_H
#define LIBSYM_JOB_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libsym/symtab.h"

/* Whose rights open the files; only root can take somebody else's. */
struct sym_cred {
	uid_t uid;
	gid_t gid;
	const gid_t *groups; /* supplementary; borrowed */
	size_t nr_groups;
};

/* Where things are; NULL or "" stands for the default.  All borrowed.  Paths are absolute,
 * here and below: a helper works elsewhere. */
struct sym_places {
	const char *debug_dir; /* /usr/lib/debug */
	const char *kallsyms;  /* /proc/kallsyms */
	const char *modules;   /* /proc/modules: where a module's .text starts */
	const char
		*modules_dir; /* /lib/modules/RELEASE: searched for NAME.ko[.xz|.zst] */
	const char *kernel_notes; /* /sys/kernel/notes: build-id of the running kernel */
};

/* What to load, what it is expected to be, for whom.  Strings are borrowed. */
struct sym_job {
	enum sym_kind kind;
	const char *path;       /* USER, VMLINUX: the file.  MODULE: its file if known */
	const char *name;       /* MODULE: module's name, "-" and "_" are the same */
	struct sym_id build_id; /* what was sampled; len 0: unknown.  Decides if known */
	int64_t mtime;          /* of what was sampled, seconds; 0: unknown */
	const struct sym_cred *cred;     /* NULL: as this process */
	const struct sym_places *places; /* NULL: the defaults */
};

#endif
