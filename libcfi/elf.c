/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/file.h"

/* So many headers have the largest files that linkers make. */
enum { MAX_HEADERS = 1 << 20 };

static bool is_within(const struct cfi_elf *e, uint64_t off, uint64_t size)
{
	return off <= e->size && size <= e->size - off;
}

/* A part of the file, on the heap.  0, *out NULL if it is empty or outside; or -errno. */
static int slurp(const struct cfi_elf *e, uint64_t off, uint64_t size, size_t most,
		 void **out)
{
	CLEANUP(free_ptr) void *bytes = NULL;
	ssize_t n;

	*out = NULL;
	if (!size || !is_within(e, off, size))
		return 0;
	if (size > most)
		return -E2BIG;
	bytes = malloc(size);
	if (!bytes)
		return -ENOMEM;
	n = file_pread_all(e->fd, bytes, size, (off_t)off);
	if (n < 0)
		return (int)n;
	if ((uint64_t)n == size) /* else it was cut short meanwhile */
		*out = TAKE(bytes);
	return 0;
}

static int slurp_section(const struct cfi_elf *e, uint64_t off, uint64_t size,
			 uint64_t vma, struct cfi_section *out)
{
	void *bytes;
	int rc = slurp(e, off, size, CFI_MAX_SECTION, &bytes);

	if (!rc)
		*out = (struct cfi_section){ bytes, (size_t)size, vma };
	return rc;
}

/*
 * Without sections .eh_frame is found by its index, of which only what leads there is
 * read: version 1, how the pointer is encoded, two more encodings, the pointer.  How long
 * it is nobody says: it ends in a length of 0.
 */
static int find_by_index(struct cfi_elf *e, const Elf64_Phdr *index,
			 const Elf64_Phdr *segments, size_t nr)
{
	enum { PCREL_SDATA4 = 0x1b };
	uint8_t head[8];
	uint64_t vma;
	int32_t rel;

	if (file_pread_all(e->fd, head, sizeof(head), (off_t)index->p_offset) !=
		    sizeof(head) ||
	    head[0] != 1 || head[1] != PCREL_SDATA4)
		return 0;
	memcpy(&rel, head + 4, sizeof(rel));
	vma = index->p_vaddr + 4 + (uint64_t)(int64_t)rel;
	for (size_t i = 0; i < nr; i++) {
		const Elf64_Phdr *p = &segments[i];
		uint64_t into = vma - p->p_vaddr;

		if (p->p_type == PT_LOAD && vma >= p->p_vaddr && into < p->p_filesz)
			return slurp_section(e, p->p_offset + into, p->p_filesz - into,
					     vma, &e->eh_frame);
	}
	return 0;
}

static int read_segments(struct cfi_elf *e, const Elf64_Ehdr *h)
{
	CLEANUP(free_ptr) void *bytes = NULL;
	const Elf64_Phdr *p, *index = NULL;
	int rc;

	if (h->e_phentsize != sizeof(*p))
		return 0;
	rc = slurp(e, h->e_phoff, h->e_phnum * sizeof(*p), MAX_HEADERS * sizeof(*p),
		   &bytes);
	p = bytes;
	for (size_t i = 0; p && i < h->e_phnum; i++) {
		if (p[i].p_type == PT_LOAD && (p[i].p_flags & PF_X) &&
		    e->nr_segments < CFI_MAX_SEGMENTS &&
		    is_within(e, p[i].p_offset, p[i].p_filesz))
			e->segments[e->nr_segments++] =
				(struct cfi_segment){ p[i].p_vaddr, p[i].p_filesz,
						      p[i].p_offset };
		if (p[i].p_type == PT_GNU_EH_FRAME)
			index = &p[i];
	}
	if (!rc && index && !e->eh_frame.bytes)
		rc = find_by_index(e, index, p, h->e_phnum);
	return rc;
}

static bool is_plt(const char *name)
{
	return !strcmp(name, ".iplt") ||
	       (!strncmp(name, ".plt", 4) && (!name[4] || name[4] == '.'));
}

static int read_section(struct cfi_elf *e, const Elf64_Shdr *s, const char *name)
{
	struct cfi_section *to = !strcmp(name, ".eh_frame")      ? &e->eh_frame
				 : !strcmp(name, ".debug_frame") ? &e->debug_frame
								 : NULL;

	if (is_plt(name) && (s->sh_flags & SHF_EXECINSTR) && e->nr_plts < CFI_MAX_PLTS)
		e->plts[e->nr_plts++] =
			(struct cfi_section){ NULL, (size_t)s->sh_size, s->sh_addr };
	if (!to || to->bytes || s->sh_type == SHT_NOBITS ||
	    (s->sh_flags & SHF_COMPRESSED))
		return 0;
	return slurp_section(e, s->sh_offset, s->sh_size, s->sh_addr, to);
}

/* How many sections there are, and which of them has the names, if the header of the file
 * has no room for that. */
static int count_sections(const struct cfi_elf *e, const Elf64_Ehdr *h, uint64_t *nr,
			  uint64_t *names)
{
	CLEANUP(free_ptr) void *bytes = NULL;
	const Elf64_Shdr *first;
	int rc = slurp(e, h->e_shoff, sizeof(*first), sizeof(*first), &bytes);

	first = bytes;
	*nr = h->e_shnum || !first ? h->e_shnum : first->sh_size;
	*names = h->e_shstrndx != SHN_XINDEX || !first ? h->e_shstrndx : first->sh_link;
	return rc;
}

static int read_sections(struct cfi_elf *e, const Elf64_Ehdr *h)
{
	CLEANUP(free_ptr) void *headers = NULL, *text = NULL;
	const Elf64_Shdr *s;
	uint64_t nr, names;
	int rc = count_sections(e, h, &nr, &names);

	if (rc || h->e_shentsize != sizeof(*s) || nr > MAX_HEADERS)
		return rc;
	rc = slurp(e, h->e_shoff, nr * sizeof(*s), MAX_HEADERS * sizeof(*s), &headers);
	s = headers;
	if (!s || names >= nr)
		return rc;
	rc = slurp(e, s[names].sh_offset, s[names].sh_size, CFI_MAX_SECTION, &text);
	for (size_t i = 0; text && !rc && i < nr; i++) {
		size_t at = s[i].sh_name, size = (size_t)s[names].sh_size;

		if (at < size && memchr((const char *)text + at, 0, size - at))
			rc = read_section(e, &s[i], (const char *)text + at);
	}
	return rc;
}

int cfi_elf_read(struct cfi_elf *e, int fd, struct err *err)
{
	static const uint8_t ident[] = { ELFCLASS64, ELFDATA2LSB };
	struct stat st;
	Elf64_Ehdr h;
	ssize_t n;
	int rc;

	*e = (struct cfi_elf){ .fd = fd };
	if (fstat(fd, &st))
		return err_errno(err, -errno, "unwind information");
	e->size = (uint64_t)st.st_size;
	n = file_pread_all(fd, &h, sizeof(h), 0);
	if (n < 0)
		return err_errno(err, (int)n, "unwind information");
	if ((size_t)n < sizeof(h) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return err_set(err, -ENOEXEC, "unwind information: no ELF file");
	if (memcmp(h.e_ident + EI_CLASS, ident, sizeof(ident)) != 0)
		return 0;
	e->machine = h.e_machine == EM_X86_64    ? CFI_X86_64
		     : h.e_machine == EM_AARCH64 ? CFI_ARM64
						 : 0;
	if (!e->machine)
		return 0;
	e->entry = h.e_entry;
	rc = read_sections(e, &h);
	if (!rc)
		rc = read_segments(e, &h);
	return rc ? err_errno(err, rc, "unwind information") : 0;
}

void cfi_elf_fini(struct cfi_elf *e)
{
	free((void *)(uintptr_t)e->eh_frame.bytes);
	free((void *)(uintptr_t)e->debug_frame.bytes);
	e->eh_frame = e->debug_frame = (struct cfi_section){ 0 };
}

bool cfi_elf_offset(const struct cfi_elf *e, uint64_t vma, uint64_t *off, uint64_t *room)
{
	for (size_t i = 0; i < e->nr_segments; i++) {
		const struct cfi_segment *s = &e->segments[i];

		if (vma < s->vma || vma - s->vma >= s->size)
			continue;
		*off = vma - s->vma + s->off;
		*room = s->size - (vma - s->vma);
		return true;
	}
	return false;
}

int cfi_elf_code(const struct cfi_elf *e, const struct cfi_segment *s, size_t most,
		 void **out)
{
	return slurp(e, s->off, s->size, most, out);
}
