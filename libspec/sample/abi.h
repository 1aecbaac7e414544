/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSPEC_SAMPLE_ABI_H
#define LIBSPEC_SAMPLE_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "libspec/sample/sample_format.h"

/*
 * Where sample files of a kind of machine have what sample_format.h says, and in which
 * byte order: SESSION_DIR/abi, written by whoever recorded there, a line "NAME NUMBER"
 * for each size and offset.
 */
#define SPEC_ABI "abi"

enum spec_abi_row {
#define ABI_SIZE(id, name, bytes) SPEC_ABI_##id,
#define ABI_PART(id, name, type) SPEC_ABI_##id,
#define ABI_FIELD(id, name, part, type, member) SPEC_ABI_##id,
#define ABI_FLAG(id, name) SPEC_ABI_##id,
#include "libspec/sample/abi_list.h"
	SPEC_NR_ABI
};

enum { SPEC_ABI_MAX_PART = 1024 }; /* bytes of a struct */

/* Checked: every field lies in its struct, every struct has at most SPEC_ABI_MAX_PART. */
struct spec_abi {
	uint32_t value[SPEC_NR_ABI];
};

/**
 * spec_abi_read - reads the file of a session directory
 * Returns 0; -ENOENT: there is none; -EBADMSG with the reason: a name that is missing,
 * given twice, or a number that cannot be; -ENOMEM; another -errno.
 */
int spec_abi_read(int session_dir_fd, struct spec_abi *out, struct err *err);
/* The same of a text; what fuzzers call. */
int spec_abi_parse(const char *text, size_t len, struct spec_abi *out, struct err *err);
/* Writes that of this machine: what sample_format.h says. */
int spec_abi_write(int session_dir_fd, struct err *err);

/* Whether its files are those of this machine. */
bool spec_abi_is_native(const struct spec_abi *abi);
/* "big endian, 32 bit"; without "32 bit" it may still be one whose 64-bit numbers are
 * aligned as everywhere else. */
const char *spec_abi_describe(const struct spec_abi *abi);

/**
 * spec_abi_recognise - which other kind of machine wrote a file, from the file alone
 * @start: what it begins with, @len bytes
 * @file_len: bytes of the file
 * Only where it is certain: magic and version must make sense on that machine, and the
 * file be exactly as long as its slots say.
 */
bool spec_abi_recognise(const void *start, size_t len, uint64_t file_len,
			struct spec_abi *out);

/* Bytes in front of the first node that is used. */
size_t spec_abi_nodes_off(const struct spec_abi *abi);
/* What a file begins with; @from holds a header and a descriptor. */
void spec_abi_start(const struct spec_abi *abi, const void *from,
		    struct spec_sample_header *header, struct spec_sample_descr *descr);
/* @nr nodes, SPEC_ABI_NODE bytes each. */
void spec_abi_nodes(const struct spec_abi *abi, const void *from, size_t nr,
		    struct spec_sample_node *to);

#endif
