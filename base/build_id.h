/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_BUILD_ID_H
#define BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a linker wrote into a binary to tell it from every other one. */

enum { BUILD_ID_MAX = 64 };

/* Bytes that hold any build-id in hexadecimal and its NUL. */
#define BUILD_ID_TEXT (2 * BUILD_ID_MAX + 1)

struct build_id {
	uint8_t len; /* 0: unknown */
	uint8_t bytes[BUILD_ID_MAX];
};

/* In lower-case hexadecimal, "" if unknown. */
void build_id_format(const struct build_id *id, char out[BUILD_ID_TEXT]);
/* @hex is all hexadecimal, of either case; "" is the unknown id.  0 or -EINVAL. */
int build_id_parse(const char *hex, struct build_id *out);
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* The build-id among ELF notes, which may be hostile; false if there is none. */
bool build_id_of_notes(const void *notes, size_t len, struct build_id *out);

#endif
