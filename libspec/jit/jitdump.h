/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_JIT_JITDUMP_H
#define LIBSPEC_JIT_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/jit/code.h"

/*
 * Files in the format of perf's jitdump: a header, and records as code was made.  What is
 * handed out points into the bytes that are read.
 */
struct spec_jitdump_header {
	uint32_t elf_machine; /* EM_... */
	uint32_t pid;         /* as the process saw itself */
	uint64_t flags;
};

/* How to unwind through the code whose record comes next. */
struct spec_jitdump_unwind {
	const uint8_t *eh_frame, *eh_frame_hdr;
	size_t eh_frame_len, eh_frame_hdr_len;
	uint64_t mapped; /* bytes of both as the writer would map them behind the code */
};

struct spec_jitdump_load {
	uint64_t addr, size, index; /* @index: the number of this piece of code */
	const char *name;
	size_t name_len;
	const uint8_t *code;                      /* @size bytes; NULL: not written */
	const struct spec_jitdump_unwind *unwind; /* NULL: none was told */
};

struct spec_jitdump_move {
	uint64_t from, to, size, index;
};

/* Each may be NULL; returns 0, or -errno, which ends the reading. */
struct spec_jitdump_visit {
	int (*load)(void *ctx, const struct spec_jitdump_load *load);
	int (*move)(void *ctx, const struct spec_jitdump_move *move);
	void *ctx;
};

/**
 * spec_jitdump_read - calls back for each record
 * @bad: records that make no sense and were passed over; may be NULL
 * What is cut short at the end is still being written, and passed over.
 * 0; -EBADMSG: no jitdump, or damaged, and what came before was handed out; what a
 * callback returned.
 */
int spec_jitdump_read(const void *data, size_t len, struct spec_jitdump_header *header,
		      const struct spec_jitdump_visit *visit, uint64_t *bad,
		      struct err *err);

/* Adds the names of all code, also where it moved.  As spec_jitdump_read(), -ENOMEM. */
int spec_jit_jitdump(const void *data, size_t len, struct spec_jit_list *out,
		     struct err *err);

#endif
