/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_LIBCFI_MADE_H
#define TESTS_UNIT_LIBCFI_MADE_H

#include <stddef.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "libcfi/table.h"

/* Unwind information made by hand, and what is compiled of it. */

#define CODE(...)                                                                        \
	(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

/* An .eh_frame that is being made; zeroed it is empty. */
struct made {
	enum cfi_machine machine;
	struct strbuf frames;
	size_t common; /* where the last common part begins */
	struct strbuf bytes;
	struct cfi_table table;
};

/* A common part as compilers write it: CFA = stack pointer + 8 and the return address
 * below, or, on arm64, CFA = stack pointer. @letters are "zR", or "zRS" of a signal
 * frame. */
void made_common(struct made *m, const char *letters);
/* The same with instructions of its own. */
void made_common_of(struct made *m, const char *letters, const uint8_t *code,
		    size_t size);
/* A function at [start, start + size) with its instructions. */
void made_function(struct made *m, uint64_t start, uint64_t size, const uint8_t *code,
		   size_t code_size);
/* Compiles it, and checks the table. */
void made_compile(struct made *m);
void made_fini(struct made *m);

#endif
