/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_LOAD_H
#define LIBSYM_ELF_LOAD_H

#include <stdbool.h>

#include "libsym/elf/debugfile.h"
#include "libsym/elf/elf.h"
#include "libsym/table/job.h"
#include "libsym/wire/build.h"

/*
 * The image of a job, opened and compared with what was sampled.  All readers of
 * symbols, lines and code begin here.  Runs in a helper, with the rights of the asking
 * user.
 */
struct sym_load {
	const struct sym_job *job;
	struct sym_build b;   /* state, reason, path, build_id ...; no symbols yet */
	struct sym_elf image; /* .elf NULL: none was opened */
	struct sym_elf mini;  /* what .gnu_debugdata unpacked to, for those who want it */
	struct sym_debugfile debug;
	int fd;        /* -1, or opened here */
	int image_fd;  /* of the image, -1: it is no file */
	bool kallsyms; /* usable, but without a file: names of the running kernel */
};

#define SYM_LOAD_INIT(for_job)                                                           \
	{                                                                                \
		.job = (for_job), .debug.fd = -1, .fd = -1, .image_fd = -1               \
	}

void sym_load_fini(struct sym_load *l);

/**
 * sym_load_open - finds and opens the image
 * How it went is in l->b.state and l->b.reason; with a state that sym_usable() accepts
 * either l->image is open or l->kallsyms is set.  Returns 0, -ENOMEM, -EINVAL (kind).
 */
int sym_load_open(struct sym_load *l);

/*
 * The same for an image that is open as @fd, which stays open; the path is the job's.
 */
int sym_load_job_fd(struct sym_load *l, int fd);

/* Finds the separate debug file of the open image and opens l->debug; true if any. */
bool sym_load_debugfile(struct sym_load *l);

/* The job's places with the defaults filled in. */
struct sym_places sym_load_places(const struct sym_job *job);

#endif
