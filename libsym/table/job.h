/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_JOB_H
#define LIBSYM_TABLE_JOB_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/build_id.h"
#include "base/cred.h"
#include "libsym/table/symtab.h"

#define SYM_DEBUG_DIR "/usr/lib/debug"

/*
 * Where things are; NULL or "" means the default.  All borrowed.  Paths are absolute,
 * here and below, because a helper has another working directory.
 */
struct sym_places {
	const char *debug_dir; /* SYM_DEBUG_DIR */
	const char *kallsyms;  /* /proc/kallsyms */
	const char *modules;   /* /proc/modules: where a module's .text starts */
	const char
		*modules_dir; /* /lib/modules/RELEASE: searched for NAME.ko[.xz|.zst] */
	const char *kernel_notes; /* /sys/kernel/notes: build-id of the running kernel */
	/* Caches by build-id of the user who runs opfs (libsym/file/caches.h).  A job
	 * that goes to a helper has those of its sender where these are NULL. */
	const char *debuginfod; /* ~/.cache/debuginfod_client */
	const char *perf;       /* ~/.debug */
	uid_t owner;            /* that user: others may not put files there */
};

/* What to load, what it is expected to be, and for whom.  Strings are borrowed. */
struct sym_job {
	enum sym_kind kind;
	const char *path; /* USER, VMLINUX: the file.  MODULE: its file if known */
	const char *name; /* MODULE: module's name, "-" and "_" are the same */
	struct build_id
		build_id; /* of the sampled binary; len 0: unknown.  Decides if known */
	int64_t mtime;    /* of the sampled binary, seconds; 0: unknown */
	const struct cred *cred;         /* whose rights open files; NULL: this process */
	const struct sym_places *places; /* NULL: the defaults */
	/* Directory of names that were kept (libsym/wire/kept.h), for when the file
	 * tells less or is gone; NULL: none. */
	const char *kept;
	/* USER: where the file is instead, if it was sampled in another mount namespace
	 * or root directory (a container): "/proc/PID/root", in which @path is looked up,
	 * or the file itself, "/proc/PID/fd/N".  @path is opened too, if the build-id
	 * tells that it is the same.  NULL: only @path is. */
	const char *at;
	uint64_t inode;    /* of the sampled binary, with @at; 0: unknown */
	const int *opened; /* in a helper: @at, open already, or -errno */
};

#endif
