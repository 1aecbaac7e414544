// SPDX-License-Identifier: GPL-2.0-or-later
#include "build_id.h"

#include <linux/elf.h>
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/magic.h>
#include <linux/pagemap.h>
#include <linux/string.h>

/* What is read of one file at most: headers, notes and bytes of notes. */
enum { MAX_PHDRS = 64, MAX_NOTES = 256, MAX_NOTE_BYTES = 65536 };

/* A file that is looked at, and what may still be read of it. */
struct look {
	struct address_space *pages;
	unsigned int notes, bytes;
};

/*
 * The kernel does not map pages of memfd_secret(); huge pages are not worth the effort.
 */
static bool may_look(const struct inode *inode)
{
	return S_ISREG(inode->i_mode) && inode->i_sb->s_magic != SECRETMEM_MAGIC &&
	       inode->i_sb->s_magic != HUGETLBFS_MAGIC;
}

/* Copies bytes of a file from the page cache.  false: some of them are not cached. */
static bool peek(struct address_space *pages, u64 off, void *to, size_t len)
{
	struct page *page;
	size_t part;
	void *from;

	while (len) {
		page = find_get_page(pages, off >> PAGE_SHIFT);
		if (!page)
			return false;
		if (!PageUptodate(page)) {
			put_page(page);
			return false;
		}
		part = min_t(size_t, len, PAGE_SIZE - offset_in_page(off));
		from = kmap_local_page(page);
		memcpy(to, from + offset_in_page(off), part);
		kunmap_local(from);
		put_page(page);
		to += part;
		off += part;
		len -= part;
	}
	return true;
}

/* Finds the first NT_GNU_BUILD_ID among the notes of a segment. */
static unsigned int in_notes(struct look *look, u64 off, u64 size, u8 *id)
{
	struct address_space *pages = look->pages;
	u64 end = off + min_t(u64, size, look->bytes), desc;
	struct elf32_note note;
	unsigned int len;
	char name[4];

	look->bytes -= end - off;
	for (; off + sizeof(note) <= end && look->notes; look->notes--) {
		if (!peek(pages, off, &note, sizeof(note)))
			return 0;
		desc = off + sizeof(note) + ALIGN((u64)note.n_namesz, 4);
		if (note.n_type == 3 && note.n_namesz == sizeof(name) && note.n_descsz &&
		    peek(pages, off + sizeof(note), name, sizeof(name)) &&
		    !memcmp(name, "GNU", sizeof(name))) {
			len = min_t(u32, note.n_descsz, OPK_BUILD_ID);
			return peek(pages, desc, id, len) ? len : 0;
		}
		off = desc + ALIGN((u64)note.n_descsz, 4);
	}
	return 0;
}

static unsigned int in_elf64(struct look *look, u8 *id)
{
	struct address_space *pages = look->pages;
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdr;
	unsigned int i, len;

	if (!peek(pages, 0, &ehdr, sizeof(ehdr)) || ehdr.e_phentsize != sizeof(phdr) ||
	    ehdr.e_phoff > S32_MAX)
		return 0;
	for (i = 0; i < min_t(unsigned int, ehdr.e_phnum, MAX_PHDRS); i++) {
		if (!peek(pages, ehdr.e_phoff + i * sizeof(phdr), &phdr, sizeof(phdr)))
			return 0;
		if (phdr.p_type != PT_NOTE || phdr.p_offset > S64_MAX / 2)
			continue;
		len = in_notes(look, phdr.p_offset, phdr.p_filesz, id);
		if (len)
			return len;
	}
	return 0;
}

static unsigned int in_elf32(struct look *look, u8 *id)
{
	struct address_space *pages = look->pages;
	Elf32_Ehdr ehdr;
	Elf32_Phdr phdr;
	unsigned int i, len;

	if (!peek(pages, 0, &ehdr, sizeof(ehdr)) || ehdr.e_phentsize != sizeof(phdr))
		return 0;
	for (i = 0; i < min_t(unsigned int, ehdr.e_phnum, MAX_PHDRS); i++) {
		if (!peek(pages, (u64)ehdr.e_phoff + i * sizeof(phdr), &phdr,
			  sizeof(phdr)))
			return 0;
		if (phdr.p_type != PT_NOTE)
			continue;
		len = in_notes(look, phdr.p_offset, phdr.p_filesz, id);
		if (len)
			return len;
	}
	return 0;
}

unsigned int opk_build_id(const struct inode *inode, u8 *id)
{
	struct address_space *pages = inode->i_mapping;
	struct look look = { pages, MAX_NOTES, MAX_NOTE_BYTES };
	u8 ident[EI_NIDENT];

	memset(id, 0, OPK_BUILD_ID);
	if (!may_look(inode) || !peek(pages, 0, ident, sizeof(ident)) ||
	    memcmp(ident, ELFMAG, SELFMAG))
		return 0;
	if (ident[EI_CLASS] == ELFCLASS64)
		return in_elf64(&look, id);
	if (ident[EI_CLASS] == ELFCLASS32)
		return in_elf32(&look, id);
	return 0;
}
