/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_WIRE_BUILD_H
#define LIBSYM_WIRE_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "libsym/table/symtab.h"

/*
 * A table in the making: readers of ELF files and of kallsyms add symbols in any order;
 * sym_build_finish() sorts them, chooses among aliases and sets sizes.
 */
struct sym_cand {
	uint64_t off, size, vma; /* size 0: to the next symbol */
	uint64_t limit;          /* the section's end: nothing reaches beyond */
	const char *name; /* borrowed until encoded; NULL: only ends what is before */
	uint32_t flags;
};

struct sym_chosen { /* as struct sym */
	uint64_t off, size, vma;
	const char *name;
	uint32_t flags;
};

struct sym_sections {
	struct sym_section *data;
	size_t len, cap;
};

struct sym_build {
	enum sym_state state;
	enum sym_source source;
	struct strbuf reason, path, debug_path;
	struct build_id build_id;
	uint64_t text_off, dev, ino, file_size;
	int64_t mtime;
	VEC(struct sym_cand) cands;
	struct sym_sections sections, entries;
	VEC(struct sym_chosen) syms; /* made by sym_build_finish() */
	struct arena arena;          /* names made up on the way */
	bool failed;                 /* out of memory: sticky */
};

#define SYM_MAX_SYMS (1u << 24)
#define SYM_MAX_ENTRIES (1u << 21)

void sym_build_fini(struct sym_build *b);
void sym_build_add(struct sym_build *b, const struct sym_cand *c);
/* Where bytes are in the file and in memory; overlaps are cut when the table is made. */
void sym_build_section(struct sym_build *b, uint64_t off, uint64_t size, uint64_t vma);
/* The same of an entry of code; those beyond SYM_MAX_ENTRIES are left out. */
void sym_build_entry(struct sym_build *b, uint64_t off, uint64_t size, uint64_t vma);
/* Sets the state and its reason, forgetting an earlier one. */
void sym_build_state(struct sym_build *b, enum sym_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* 0 or -ENOMEM. */
int sym_build_finish(struct sym_build *b);

#endif
