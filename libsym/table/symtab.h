/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBSYM_TABLE_SYMTAB_H
#define LIBSYM_TABLE_SYMTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/build_id.h"
#include "libsym/table/range.h"

/*
 * The code symbols of one image, decoded and immutable: threads share a table without
 * locks.  Offsets ("off") are file offsets in user images, in the vdso (offset in its
 * image), and in kernel images that are files; in tables made from kallsyms they are
 * counted from the start of the kernel or of the module.
 */

enum sym_kind {
	SYM_USER,     /* an ELF file: program or library */
	SYM_VDSO,     /* the vdso of the running kernel */
	SYM_KALLSYMS, /* the running kernel, from /proc/kallsyms */
	SYM_VMLINUX,  /* a kernel image that is a file */
	SYM_MODULE,   /* a kernel module: its file, else /proc/kallsyms */
	SYM_NR_KINDS,
};

enum sym_source { /* where the names come from */
		  SYM_FROM_NOTHING,
		  SYM_FROM_SYMTAB,    /* .symtab of the image */
		  SYM_FROM_DEBUGFILE, /* .symtab of debug_path */
		  SYM_FROM_MINIDEBUG, /* .gnu_debugdata beside .dynsym */
		  SYM_FROM_DYNSYM,    /* exported names only */
		  SYM_FROM_KALLSYMS,
		  SYM_FROM_JIT, /* of code made at run time, by whoever made it */
		  SYM_NR_SOURCES,
};

enum sym_state {
	SYM_OK,
	SYM_UNCHECKED,  /* usable; nothing was known to compare the file with */
	SYM_NO_SYMBOLS, /* the right file, without a name for code but PLT entries */
	SYM_MISSING,    /* no such file */
	SYM_UNREADABLE, /* the asking user may not read it */
	SYM_NOT_ELF,
	SYM_CHANGED, /* not the file that was sampled: build-id or mtime differ */
	SYM_BROKEN,  /* reading the file made its reader crash or reach a limit */
	SYM_NR_STATES,
};

enum {
	SYM_GLOBAL = 1, /* global or weak; else local */
	SYM_WEAK = 2,
	SYM_PLT = 4,      /* made for a PLT entry: "name@plt" */
	SYM_NOSIZE = 8,   /* st_size is zero: reaches to the next symbol */
	SYM_INLINED = 16, /* of no table: a function inlined into others */
};

struct sym {
	uint64_t off;   /* first byte, see above */
	uint64_t size;  /* bytes; never past the section's end */
	uint64_t vma;   /* link-time address of the first byte */
	int64_t name;   /* where that is from here, in bytes: sym_name() */
	uint32_t flags; /* SYM_GLOBAL ... */
	uint32_t zero;
};

/* The name as it is in the file: mangled; never empty.  It is found from where the symbol
 * is, so that tables may be anywhere in memory: a copy of a symbol has no name. */
static inline const char *sym_name(const struct sym *s)
{
	return (const char *)((uintptr_t)s + (uintptr_t)s->name);
}

static inline void sym_set_name(struct sym *s, const char *name)
{
	s->name = (int64_t)((uintptr_t)name - (uintptr_t)s);
}

struct sym_section { /* bytes, where they are in the file and at which address */
	uint64_t off, size, vma;
};

struct sym_table {
	enum sym_state state;
	enum sym_source source;
	const char *reason;     /* one line that names the file; "" if SYM_OK */
	const char *path;       /* the image that was read; "" if none */
	const char *debug_path; /* separate debug file that gave the names; "" if none */
	struct build_id build_id; /* of the file that was read */
	/*
	 * File offset of .text: the key of a sample in a kernel image is counted from
	 * there, so its offset here is key + text_off.  Zero for kallsyms and whatever is
	 * no kernel image.
	 */
	uint64_t text_off;
	uint64_t dev, ino, file_size;       /* of the file that was read; 0 if none */
	int64_t mtime;                      /* seconds */
	const struct sym *syms;             /* by off; offs are distinct */
	const struct sym_section *sections; /* by off */
	/*
	 * Code as the tables for unwinding divide it, which is into functions: by off,
	 * disjoint.  Of user images whose .symtab is not known; others have none.
	 */
	const struct sym_section *entries;
	size_t nr_syms, nr_sections, nr_entries;
	size_t bytes;                  /* what the table costs in memory */
	const struct sym_index *index; /* private, as all below */
	void *image; /* all of the above but this struct (libsym/wire/image.h) */
	size_t image_len;
	void (*release)(void *image, size_t len);
	int refs; /* atomic */
};

/* True if the state lets samples be attributed to the symbols of the table. */
static inline bool sym_usable(enum sym_state state)
{
	return state == SYM_OK || state == SYM_UNCHECKED;
}

/* What sym_table_rank() says at least of a table that no other could be better than. */
enum { SYM_BEST = 8 };

/* How much a table tells: one of a higher rank has names that another lacks, or the same
 * and entries; 0 is one without any use. */
unsigned sym_table_rank(const struct sym_table *t);

/**
 * sym_find - the symbol that covers an offset
 * @off: as in struct sym; for a sample of a kernel image its key + t->text_off
 * A symbol does not reach beyond its st_size, and where symbols nest the innermost wins.
 * Returns NULL if no symbol covers @off; the symbol dies with the table.
 */
const struct sym *sym_find(const struct sym_table *t, uint64_t off);

/* The entry of code that has the offset, or NULL; dies with the table. */
const struct sym_section *sym_entry_find(const struct sym_table *t, uint64_t off);

/* The link-time address of an offset, also outside every symbol.  False if unknown. */
bool sym_vma(const struct sym_table *t, uint64_t off, uint64_t *vma);

/* One reference more, one less; the last one frees.  @t may be NULL in put. */
struct sym_table *sym_table_get(struct sym_table *t);
void sym_table_put(struct sym_table *t);
/* CLEANUP(sym_table_putp) struct sym_table *t = NULL; */
static inline void sym_table_putp(struct sym_table **t)
{
	sym_table_put(*t);
}

/* "ok", "missing" ... and "symtab", "debug file" ...: for status files. */
const char *sym_state_name(enum sym_state state);
const char *sym_source_name(enum sym_source source);

#endif
