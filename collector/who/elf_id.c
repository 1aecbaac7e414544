/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collector/who/elf_id.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"

enum { MAX_NOTES = 1 << 16, MAX_PHDRS = 128, MAX_SHDRS = 4096, MAX_NAMES = 1 << 20 };

/* Where bytes come from: a file, or memory. */
struct elf_src {
	int fd; /* -1: memory */
	const char *mem;
	size_t len;
};

static bool read_at(const struct elf_src *src, void *to, size_t len, uint64_t off)
{
	if (src->fd >= 0)
		return off <= INT64_MAX &&
		       file_pread_all(src->fd, to, len, (off_t)off) == (ssize_t)len;
	if (off > src->len || len > src->len - off)
		return false;
	memcpy(to, src->mem + off, len);
	return true;
}

static bool in_segment(const struct elf_src *src, uint64_t off, uint64_t size,
		       struct build_id *out)
{
	CLEANUP(free_ptr) void *notes = NULL;

	if (!size || size > MAX_NOTES)
		return false;
	notes = malloc((size_t)size);
	return notes && read_at(src, notes, (size_t)size, off) &&
	       build_id_of_notes(notes, (size_t)size, out);
}

static bool build_id64(const struct elf_src *src, struct build_id *out)
{
	Elf64_Ehdr eh;
	Elf64_Phdr ph;

	if (!read_at(src, &eh, sizeof(eh), 0) || eh.e_phentsize != sizeof(ph))
		return false;
	for (unsigned i = 0; i < eh.e_phnum && i < MAX_PHDRS; i++) {
		if (!read_at(src, &ph, sizeof(ph), eh.e_phoff + i * sizeof(ph)))
			return false;
		if (ph.p_type == PT_NOTE &&
		    in_segment(src, ph.p_offset, ph.p_filesz, out))
			return true;
	}
	return false;
}

static bool build_id32(const struct elf_src *src, struct build_id *out)
{
	Elf32_Ehdr eh;
	Elf32_Phdr ph;

	if (!read_at(src, &eh, sizeof(eh), 0) || eh.e_phentsize != sizeof(ph))
		return false;
	for (unsigned i = 0; i < eh.e_phnum && i < MAX_PHDRS; i++) {
		if (!read_at(src, &ph, sizeof(ph), (uint64_t)eh.e_phoff + i * sizeof(ph)))
			return false;
		if (ph.p_type == PT_NOTE &&
		    in_segment(src, ph.p_offset, ph.p_filesz, out))
			return true;
	}
	return false;
}

static bool build_id(const struct elf_src *src, struct build_id *out)
{
	unsigned char ident[EI_NIDENT];

	if (!read_at(src, ident, sizeof(ident), 0) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0 || ident[EI_DATA] != ELFDATA2LSB)
		return false;
	return ident[EI_CLASS] == ELFCLASS64 ? build_id64(src, out)
					     : build_id32(src, out);
}

bool coll_elf_build_id(int fd, struct build_id *out)
{
	return build_id(&(struct elf_src){ .fd = fd }, out);
}

bool coll_elf_build_id_mem(const void *image, size_t len, struct build_id *out)
{
	return build_id(&(struct elf_src){ .fd = -1, .mem = image, .len = len }, out);
}

/* The section header of .text; its names are read in one piece. */
static bool find_text(const struct elf_src *src, const Elf64_Ehdr *eh, Elf64_Shdr *sh)
{
	CLEANUP(free_ptr) char *names = NULL;
	Elf64_Shdr str;

	if (eh->e_shentsize != sizeof(*sh) || eh->e_shnum > MAX_SHDRS ||
	    eh->e_shstrndx >= eh->e_shnum ||
	    !read_at(src, &str, sizeof(str),
		     eh->e_shoff + eh->e_shstrndx * sizeof(str)) ||
	    !str.sh_size || str.sh_size > MAX_NAMES)
		return false;
	names = calloc(1, (size_t)str.sh_size + 1);
	if (!names || !read_at(src, names, (size_t)str.sh_size, str.sh_offset))
		return false;
	for (unsigned i = 0; i < eh->e_shnum; i++) {
		if (!read_at(src, sh, sizeof(*sh), eh->e_shoff + i * sizeof(*sh)))
			return false;
		if (sh->sh_name < str.sh_size && !strcmp(names + sh->sh_name, ".text"))
			return true;
	}
	return false;
}

int coll_elf_text(int fd, uint64_t *addr, uint64_t *size, struct err *err)
{
	struct elf_src src = { .fd = fd };
	Elf64_Ehdr eh;
	Elf64_Shdr sh;

	if (!read_at(&src, &eh, sizeof(eh), 0) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) != 0 ||
	    eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_ident[EI_DATA] != ELFDATA2LSB)
		return err_set(err, -EBADMSG,
			       "not a 64-bit ELF file (a compressed vmlinuz "
			       "must be unpacked)");
	if (!find_text(&src, &eh, &sh))
		return err_set(err, -EBADMSG, "no section .text");
	*addr = sh.sh_addr;
	*size = sh.sh_size;
	return 0;
}
