/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_ELF_ELF_H
#define LIBSYM_ELF_ELF_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "libsym/wire/build.h"

/* An ELF file that is open for reading, with its headers decoded. */
struct sym_elf {
	Elf *elf;
	void *mem; /* the content of a packed file; NULL: read from its descriptor */
	struct arena arena;
	uint16_t type, machine; /* ET_, EM_ */
	GElf_Shdr *sh;          /* section headers, [0] unused */
	const char **sh_names;  /* never NULL */
	size_t nr_sh;
	struct sym_section *loads; /* PT_LOAD: bytes in the file and their address */
	size_t nr_loads;
};

#define SYM_MAX_UNPACKED (256u << 20) /* bytes that a compressed image may grow to */

void sym_elf_fini(struct sym_elf *e);

/**
 * sym_elf_open - reads the headers
 * @fd: stays the caller's and must stay open
 * @packed: also files packed by xz, gzip, bzip2 or zstd
 * Returns 0; -ENOEXEC if it is no ELF file (message without the path); -ENOMEM.
 */
int sym_elf_open(int fd, bool packed, struct sym_elf *out, struct err *err);
/* The same for an image in memory, borrowed until sym_elf_fini(). */
int sym_elf_memory(void *image, size_t size, struct sym_elf *out, struct err *err);

/* True for programs, libraries and relocatable files (modules). */
bool sym_elf_is_code(const struct sym_elf *e);
void sym_elf_build_id(const struct sym_elf *e, struct build_id *out);
/* Number of the section of that name that has bytes in the file; 0: none. */
size_t sym_elf_section(const struct sym_elf *e, const char *name);

/*
 * Which part of the file is mapped where: segments, or the sections of a relocatable
 * file.
 */
void sym_elf_add_sections(const struct sym_elf *e, struct sym_build *b);

/**
 * sym_elf_add_symbols - the code symbols of one table
 * @image: the file that was sampled; its headers say where code is in it
 * @from: the file with the table: @image itself or a separate debug file
 * @table: SHT_SYMTAB or SHT_DYNSYM
 * Returns how many were added; names live as long as @from.
 */
size_t sym_elf_add_symbols(const struct sym_elf *image, const struct sym_elf *from,
			   uint32_t table, struct sym_build *b);

#endif
