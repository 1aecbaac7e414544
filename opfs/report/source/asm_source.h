/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef OPFS_REPORT_SOURCE_ASM_SOURCE_H
#define OPFS_REPORT_SOURCE_ASM_SOURCE_H

#include "opfs/report/source/asm.h"

/*
 * Source lines between instructions, as objdump -S puts them: up to five lines that lead
 * to the line of an instruction, unless they were shown before in the function.
 */
struct asm_source;

/* Makes *@out, at the first call, and reads the lines of some units' code.  0, -EINTR,
 * -ENOMEM. */
int asm_source_load(const struct report_job *job, const struct asm_unit *units, size_t nr,
		    struct asm_source **out, struct err *err);
void asm_source_free(struct asm_source *s); /* NULL is fine */

/* Begins a function of @image. */
void asm_source_begin(struct asm_source *s, uint32_t image);

/* Appends the lines above the instruction at @off, each behind @fill. */
void asm_source_lines(struct asm_source *s, uint64_t off, const struct strbuf *fill,
		      struct strbuf *out);

#endif
