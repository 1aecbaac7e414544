/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * craft FILE SEGMENTS NOTES [first|last]: writes a program that works a moment and ends,
 * with so many segments of so many notes each, which are as small as notes can be and
 * mean nothing; all segments are the same bytes.  A build-id, twenty bytes of 0x42, is
 * the first note of the first segment, or the last one of the last, or there is none.
 * The code of visit.h is in it, too.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "visit.h"

enum { MAX_SEGMENTS = 64, ID = 20, MOMENT = 1000000 };

#ifdef __aarch64__
#define MACHINE EM_AARCH64
#define EXIT "mov x8, #93\n\tmov x0, #0\n\tsvc #0"
#else
#define MACHINE EM_X86_64
#define EXIT "mov $60, %%eax\n\txor %%edi, %%edi\n\tsyscall"
#endif

/* Where the program begins. */
__attribute__((section("visit_code"), used, noreturn)) static void begin(void)
{
	visit_spin(MOMENT);
	__asm__ volatile(EXIT : : : "memory");
	__builtin_unreachable();
}

struct build_id {
	Elf64_Nhdr head;
	char name[4];
	unsigned char id[ID];
};

/* The first page; the build-id, notes and the build-id once more follow. */
struct page {
	Elf64_Ehdr ehdr;
	Elf64_Phdr phdrs[MAX_SEGMENTS + 1];
	char gap[VISIT_OFF - sizeof(Elf64_Ehdr) -
		 (MAX_SEGMENTS + 1) * sizeof(Elf64_Phdr)];
	char code[VISIT_PAGE - VISIT_OFF];
};

enum { ID_OFF = VISIT_PAGE, NOTES_OFF = ID_OFF + sizeof(struct build_id) };

static void fill_headers(struct page *page, unsigned segments)
{
	const unsigned long base = 0x10000000;

	memcpy(page->ehdr.e_ident, ELFMAG, SELFMAG);
	page->ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	page->ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	page->ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	page->ehdr.e_type = ET_EXEC;
	page->ehdr.e_machine = MACHINE;
	page->ehdr.e_version = EV_CURRENT;
	page->ehdr.e_entry = base + VISIT_OFF +
			     (unsigned long)((const char *)begin - __start_visit_code);
	page->ehdr.e_phoff = offsetof(struct page, phdrs);
	page->ehdr.e_ehsize = sizeof(Elf64_Ehdr);
	page->ehdr.e_phentsize = sizeof(Elf64_Phdr);
	page->ehdr.e_phnum = (Elf64_Half)(segments + 1);
	page->phdrs[segments] = (Elf64_Phdr){ .p_type = PT_LOAD,
					      .p_flags = PF_R | PF_X,
					      .p_vaddr = base,
					      .p_paddr = base,
					      .p_filesz = VISIT_PAGE,
					      .p_memsz = VISIT_PAGE,
					      .p_align = VISIT_PAGE };
}

static void fill_notes(struct page *page, unsigned segments, size_t notes,
		       const char *where)
{
	for (unsigned i = 0; i < segments; i++)
		page->phdrs[i] = (Elf64_Phdr){ .p_type = PT_NOTE,
					       .p_flags = PF_R,
					       .p_offset = NOTES_OFF,
					       .p_filesz = notes * sizeof(Elf64_Nhdr),
					       .p_align = 4 };
	if (!strcmp(where, "first")) {
		page->phdrs[0].p_offset = ID_OFF;
		page->phdrs[0].p_filesz += sizeof(struct build_id);
	} else if (!strcmp(where, "last")) {
		page->phdrs[segments - 1].p_filesz += sizeof(struct build_id);
	}
}

static int write_file(const char *path, const struct page *page, size_t notes)
{
	static const Elf64_Nhdr tiny = { .n_type = 1 };
	struct build_id id = { .head = { 4, ID, NT_GNU_BUILD_ID }, .name = "GNU" };
	FILE *f = fopen(path, "w");

	if (!f)
		return -1;
	memset(id.id, 0x42, ID);
	fwrite(page, sizeof(*page), 1, f);
	fwrite(&id, sizeof(id), 1, f);
	for (size_t i = 0; i < notes; i++)
		fwrite(&tiny, sizeof(tiny), 1, f);
	fwrite(&id, sizeof(id), 1, f);
	fchmod(fileno(f), 0755);
	return ferror(f) | fclose(f);
}

int main(int argc, char **argv)
{
	unsigned long segments = argc > 3 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned long notes = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	static struct page page;

	if (!segments || segments > MAX_SEGMENTS || visit_size() > sizeof(page.code))
		return 2;
	memcpy(page.code, __start_visit_code, visit_size());
	fill_headers(&page, (unsigned)segments);
	fill_notes(&page, (unsigned)segments, notes, argc > 4 ? argv[4] : "");
	if (write_file(argv[1], &page, notes)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
