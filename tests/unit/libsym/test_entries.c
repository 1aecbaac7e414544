/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dwarf.h>
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libsym/helper/image.h"

/* Images made by hand: one segment, which has all of the file. */
enum { BASE = 0x10000, TEXT_SIZE = 0x1000, MAX_FRAMES = 0x1000 };

struct shape {
	uint8_t class, order, encoding;
};

struct frames { /* .eh_frame */
	struct shape shape;
	struct strbuf bytes;
};

static const struct shape usual = { ELFCLASS64, ELFDATA2LSB,
				    DW_EH_PE_pcrel | DW_EH_PE_sdata4 };

/* ---- frames */

static void put(struct frames *f, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++) {
		size_t byte = f->shape.order == ELFDATA2MSB ? width - 1 - i : i;

		strbuf_putc(&f->bytes, (char)(value >> 8 * byte));
	}
}

/* Where a section of the image is: .text, then .eh_frame. */
static uint64_t frames_vma(void)
{
	return BASE + 0x1000 + TEXT_SIZE;
}

static size_t width_of(const struct shape *s)
{
	switch (s->encoding & 7) {
	case DW_EH_PE_udata4:
		return 4;
	case DW_EH_PE_udata8:
		return 8;
	default:
		return s->class == ELFCLASS64 ? 8 : 4;
	}
}

/* Returns where it is. */
static size_t add_cie(struct frames *f, const char *augmentation)
{
	size_t at = f->bytes.len;
	/* version, alignment of code and data, return address */
	const char tail[] = { 1, 0x78, 16 };
	/* length of what follows, which is personality, LSDA, addresses */
	const char data[] = { 7, DW_EH_PE_udata4, 1, 2, 3, 4, DW_EH_PE_udata4 };

	put(f, 0, 4);
	put(f, 0, 4);
	strbuf_putc(&f->bytes, 1);
	strbuf_add(&f->bytes, augmentation, strlen(augmentation) + 1);
	strbuf_add(&f->bytes, tail, sizeof(tail));
	if (!strcmp(augmentation, "zPLR"))
		strbuf_add(&f->bytes, data, sizeof(data));
	if (!strcmp(augmentation, "zR"))
		strbuf_putc(&f->bytes, 1);
	if (*augmentation)
		strbuf_putc(&f->bytes, (char)f->shape.encoding);
	while (f->bytes.len % 4)
		strbuf_putc(&f->bytes, DW_CFA_nop);
	f->bytes.data[f->shape.order == ELFDATA2MSB ? at + 3 : at] =
		(char)(f->bytes.len - at - 4);
	return at;
}

static void add_fde(struct frames *f, size_t cie, uint64_t start, uint64_t size)
{
	size_t width = width_of(&f->shape), at = f->bytes.len + 8;

	put(f, 8 + 2 * width, 4);
	put(f, f->bytes.len - cie, 4);
	if (f->shape.encoding & DW_EH_PE_pcrel)
		start -= frames_vma() + at;
	put(f, start, width);
	put(f, size, width);
	put(f, 0, 4); /* no more augmentation; DW_CFA_nop */
}

/* ---- images */

static Elf_Scn *add_section(Elf *elf, GElf_Shdr *sh, const void *data)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *d = elf_newdata(scn);
	GElf_Shdr now;

	d->d_buf = (void *)(uintptr_t)data;
	d->d_size = sh->sh_size;
	cr_assert(gelf_getshdr(scn, &now));
	cr_assert(gelf_update_shdr(scn, sh));
	return scn;
}

static void add_sections(Elf *elf, const struct frames *f)
{
	static const char names[] = "\0.text\0.eh_frame\0.shstrtab";
	static const char text[TEXT_SIZE];
	GElf_Shdr sh = { .sh_name = 1,
			 .sh_type = SHT_PROGBITS,
			 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			 .sh_addr = BASE + 0x1000,
			 .sh_offset = 0x1000,
			 .sh_size = TEXT_SIZE };

	add_section(elf, &sh, text);
	sh.sh_name = 7;
	sh.sh_flags = SHF_ALLOC;
	sh.sh_addr = frames_vma();
	sh.sh_offset += TEXT_SIZE;
	sh.sh_size = f->bytes.len;
	add_section(elf, &sh, f->bytes.data);
	sh = (GElf_Shdr){ .sh_name = 17,
			  .sh_type = SHT_STRTAB,
			  .sh_offset = 0x1000 + TEXT_SIZE + MAX_FRAMES,
			  .sh_size = sizeof(names) };
	elf_flagelf(elf, ELF_C_SET, ELF_F_LAYOUT);
	add_section(elf, &sh, names);
}

static int make_image(const struct frames *f)
{
	int fd = memfd_create("image", MFD_CLOEXEC);
	GElf_Phdr ph = { .p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_vaddr = BASE,
			 .p_filesz = 0x1000 + TEXT_SIZE + MAX_FRAMES };
	GElf_Ehdr eh;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	cr_assert(elf && gelf_newehdr(elf, f->shape.class) && gelf_newphdr(elf, 1));
	cr_assert(gelf_getehdr(elf, &eh));
	eh.e_ident[EI_DATA] = f->shape.order;
	eh.e_type = ET_EXEC;
	eh.e_machine = f->shape.order == ELFDATA2MSB ? EM_PPC : EM_X86_64;
	eh.e_version = EV_CURRENT;
	eh.e_phoff = 64;
	eh.e_shoff = 0x800;
	eh.e_shstrndx = 3;
	cr_assert(gelf_update_ehdr(elf, &eh) && gelf_update_phdr(elf, 0, &ph));
	add_sections(elf, f);
	cr_assert(elf_update(elf, ELF_C_WRITE) > 0, "%s", elf_errmsg(-1));
	elf_end(elf);
	return fd;
}

static struct sym_table *load(const struct frames *f)
{
	static const struct sym_places nowhere = { .debug_dir = "/nonexistent" };
	const struct sym_job job = { .kind = SYM_USER,
				     .path = "image",
				     .places = &nowhere };
	CLEANUP(close_fd) int fd = make_image(f);
	struct sym_table *t = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_table_load_fd(fd, &job, &t, &err), 0, "%s", err.msg);
	cr_assert_eq(t->state, SYM_NO_SYMBOLS, "%s", t->reason);
	return t;
}

static void finish(struct frames *f)
{
	strbuf_fini(&f->bytes);
}

static void expect(const struct sym_table *t, size_t at, uint64_t vma, uint64_t size)
{
	cr_assert(at < t->nr_entries, "%zu of %zu", at, t->nr_entries);
	cr_expect_eq(t->entries[at].vma, vma, "%zu: %#lx", at, t->entries[at].vma);
	cr_expect_eq(t->entries[at].off, vma - BASE);
	cr_expect_eq(t->entries[at].size, size, "%zu: %#lx", at, t->entries[at].size);
}

/* ---- tests */

ParameterizedTestParameters(entries, are_read_in_every_byte_order_and_encoding)
{
	static struct shape shapes[] = {
		{ ELFCLASS64, ELFDATA2LSB, DW_EH_PE_pcrel | DW_EH_PE_sdata4 },
		{ ELFCLASS64, ELFDATA2LSB, DW_EH_PE_pcrel | DW_EH_PE_sdata8 },
		{ ELFCLASS64, ELFDATA2LSB, DW_EH_PE_udata4 },
		{ ELFCLASS64, ELFDATA2LSB, DW_EH_PE_absptr },
		{ ELFCLASS64, ELFDATA2MSB, DW_EH_PE_pcrel | DW_EH_PE_sdata4 },
		{ ELFCLASS32, ELFDATA2LSB, DW_EH_PE_pcrel | DW_EH_PE_sdata4 },
		{ ELFCLASS32, ELFDATA2MSB, DW_EH_PE_pcrel | DW_EH_PE_absptr },
		{ ELFCLASS32, ELFDATA2MSB, DW_EH_PE_absptr },
	};

	return cr_make_param_array(struct shape, shapes,
				   sizeof(shapes) / sizeof(shapes[0]));
}

ParameterizedTest(struct shape *s, entries, are_read_in_every_byte_order_and_encoding)
{
	CLEANUP(finish) struct frames f = { .shape = *s };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	bool plain = s->encoding == DW_EH_PE_absptr;
	size_t first = add_cie(&f, "zPLR"), second;

	add_fde(&f, first, 0x11000, 0x20);
	second = add_cie(&f, plain ? "" : "zR");
	add_fde(&f, second, 0x11100, 0x30);
	add_fde(&f, first, 0x11040, 0x10);
	t = load(&f);
	cr_assert_eq(t->nr_entries, 3);
	expect(t, 0, 0x11000, 0x20);
	expect(t, 1, 0x11040, 0x10);
	expect(t, 2, 0x11100, 0x30);
	cr_expect_eq(sym_entry_find(t, 0x104f), &t->entries[1]);
	cr_expect_null(sym_entry_find(t, 0x1050));
	cr_expect_null(sym_entry_find(t, 0));
}

Test(entries, that_overlap_share_no_byte_and_end_in_the_file)
{
	CLEANUP(finish) struct frames f = { .shape = usual };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	size_t cie = add_cie(&f, "zR");

	add_fde(&f, cie, 0x11010, 0x20);
	add_fde(&f, cie, 0x11000, 0x18);
	add_fde(&f, cie, 0x11004, 4);
	add_fde(&f, cie, 0x11000, 4);
	add_fde(&f, cie, 0x11100, UINT32_MAX);
	t = load(&f);
	cr_assert_eq(t->nr_entries, 3);
	expect(t, 0, 0x11000, 0x18);
	expect(t, 1, 0x11018, 0x18);
	expect(t, 2, 0x11100, 0x10000 + 0x1000 + TEXT_SIZE + MAX_FRAMES - 0x11100);
}

Test(entries, that_make_no_sense_are_passed_over)
{
	CLEANUP(finish) struct frames f = { .shape = usual };
	CLEANUP(sym_table_putp) struct sym_table *t = NULL;
	size_t cie = add_cie(&f, "zR"), odd;

	add_fde(&f, cie, 0x11000, 0);
	add_fde(&f, cie, 0x9000, 0x100);  /* before the file, */
	add_fde(&f, cie, 0x90000, 0x100); /* and behind it */
	add_fde(&f, cie + 1, 0x11010, 1); /* no CIE is there */
	add_fde(&f, f.bytes.len, 0x11020, 1);
	f.shape.encoding = DW_EH_PE_datarel | DW_EH_PE_sdata4;
	odd = add_cie(&f, "zR");
	add_fde(&f, odd, 0x11030, 1);
	f.shape.encoding = DW_EH_PE_indirect | DW_EH_PE_udata4;
	odd = add_cie(&f, "zR");
	add_fde(&f, odd, 0x11040, 1);
	f.shape.encoding = DW_EH_PE_uleb128;
	odd = add_cie(&f, "zR");
	f.shape.encoding = usual.encoding;
	add_fde(&f, odd, 0x11050, 1);
	odd = add_cie(&f, "zXR");
	add_fde(&f, odd, 0x11060, 1);
	add_fde(&f, cie, 0x11070, 1);
	t = load(&f);
	cr_assert_eq(t->nr_entries, 1);
	expect(t, 0, 0x11070, 1);
}

Test(entries, of_frames_that_are_cut_short_are_those_before)
{
	CLEANUP(finish) struct frames f = { .shape = usual };
	size_t cie = add_cie(&f, "zR"), ends[3], before = 0;

	for (size_t i = 0; i < 3; i++) {
		add_fde(&f, cie, 0x11000 + 16 * i, 16);
		ends[i] = f.bytes.len;
	}
	for (size_t len = 1; len <= ends[2]; len++) {
		CLEANUP(sym_table_putp) struct sym_table *t = NULL;

		f.bytes.len = len;
		t = load(&f);
		before = len < ends[0] ? 0 : len < ends[1] ? 1 : len < ends[2] ? 2 : 3;
		cr_expect_eq(t->nr_entries, before, "%zu bytes: %zu", len, t->nr_entries);
	}
	cr_expect_eq(before, 3);
}

Test(entries, no_damaged_byte_of_frames_costs_more_than_entries)
{
	CLEANUP(finish) struct frames f = { .shape = usual };
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	size_t cie = add_cie(&f, "zPLR");

	add_fde(&f, cie, 0x11000, 16);
	add_fde(&f, cie, 0x11010, 16);
	for (size_t i = 0; i < f.bytes.len * sizeof(values); i++) {
		CLEANUP(sym_table_putp) struct sym_table *t = NULL;
		char *byte = &f.bytes.data[i / sizeof(values)], old = *byte;

		*byte = (char)values[i % sizeof(values)];
		t = load(&f);
		cr_expect(t->nr_entries <= 2);
		*byte = old;
	}
}
