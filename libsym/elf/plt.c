/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/plt.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

struct slot { /* a place of the GOT that the dynamic linker fills */
	uint64_t addr;
	uint32_t sym;     /* in the table that the relocations link to */
	uint32_t strings; /* section with the names */
	uint64_t sym_section;
	int64_t addend;
};

struct slots {
	struct slot *data;
	size_t len, cap;
};

struct machine {
	uint16_t machine;
	uint32_t jump_slot, glob_dat, irelative;
	void (*scan)(const struct machine *m, struct sym_build *b,
		     const struct sym_elf *image, size_t section, const struct slots *s);
};

static uint32_t le32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Where the jump of an entry is: it may be behind endbr64 or endbr32 and a bnd prefix. */
static size_t x86_jump(const uint8_t *code, size_t len, uint8_t endbr)
{
	const uint8_t start[4] = { 0xf3, 0x0f, 0x1e, endbr };
	size_t at = 0;

	if (len >= 4 && !memcmp(code, start, 4))
		at = 4;
	if (at < len && code[at] == 0xf2)
		at++;
	return at;
}

/* jmp *disp(%rip) */
uint64_t sym_plt_slot_x86(const uint8_t *code, size_t len, uint64_t addr)
{
	size_t at = x86_jump(code, len, 0xfa);

	if (len < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	return addr + at + 6 + (uint64_t)(int64_t)(int32_t)le32(code + at + 2);
}

/* jmp *disp(%ebx), with %ebx the start of the GOT, or jmp *address */
uint64_t sym_plt_slot_i386(const uint8_t *code, size_t len, uint64_t got)
{
	size_t at = x86_jump(code, len, 0xfb);

	if (len < at + 6 || code[at] != 0xff)
		return 0;
	if (code[at + 1] == 0xa3)
		return (uint32_t)(got + le32(code + at + 2));
	return code[at + 1] == 0x25 ? le32(code + at + 2) : 0;
}

uint64_t sym_plt_slot_aarch64(const uint8_t *code, size_t len, uint64_t addr)
{
	uint32_t adrp, ldr;
	uint64_t page;

	if (len < 8)
		return 0;
	adrp = le32(code);
	ldr = le32(code + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
		return 0;
	page = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
	if (page & 1u << 20)
		page |= ~(uint64_t)0 << 21;
	return (addr & ~(uint64_t)0xfff) + (page << 12) +
	       (uint64_t)(ldr >> 10 & 0xfff) * 8;
}

static int compare_slots(const void *pa, const void *pb)
{
	const struct slot *a = pa, *b = pb;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static const struct slot *find_slot(const struct slots *s, uint64_t addr)
{
	struct slot key = { .addr = addr };

	return addr && s->len ? bsearch(&key, s->data, s->len, sizeof(key), compare_slots)
			      : NULL;
}

/* "puts", "puts+0x10", "*ABS*+0x401000": as objdump spells what a slot is filled with. */
static void slot_name(const struct sym_elf *image, const struct slot *s,
		      struct strbuf *out)
{
	const char *name = "*ABS*";
	Elf_Data *data;
	GElf_Sym sym;

	if (s->sym) {
		data = elf_getdata(elf_getscn(image->elf, s->sym_section), NULL);
		if (!data || s->sym > INT32_MAX || !gelf_getsym(data, (int)s->sym, &sym))
			return;
		name = elf_strptr(image->elf, s->strings, sym.st_name);
	}
	if (!name || !*name)
		return;
	strbuf_puts(out, name);
	if (s->addend || !s->sym)
		strbuf_printf(out, "+0x%" PRIx64, (uint64_t)s->addend);
	strbuf_puts(out, "@plt");
}

static void add_entry(struct sym_build *b, const struct sym_elf *image, size_t section,
		      uint64_t at, uint64_t size, const struct slot *slot)
{
	const GElf_Shdr *sh = &image->sh[section];
	CLEANUP(strbuf_fini) struct strbuf name = { 0 };
	struct sym_cand c = {
		.off = sh->sh_offset + at,
		.size = size,
		.vma = sh->sh_addr + at,
		.flags = SYM_PLT,
	};

	if (__builtin_add_overflow(sh->sh_offset, sh->sh_size, &c.limit))
		return;
	slot_name(image, slot, &name);
	if (!name.len)
		return;
	c.name = arena_strdup(&b->arena, strbuf_str(&name));
	if (strbuf_error(&name) || !c.name)
		b->failed = true;
	else
		sym_build_add(b, &c);
}

static const Elf_Data *section_bytes(const struct sym_elf *image, size_t section)
{
	Elf_Data *data = elf_rawdata(elf_getscn(image->elf, section), NULL);

	return data && data->d_buf ? data : NULL;
}

static void scan_x86(const struct machine *m, struct sym_build *b,
		     const struct sym_elf *image, size_t section, const struct slots *s)
{
	const GElf_Shdr *sh = &image->sh[section];
	const Elf_Data *data = section_bytes(image, section);
	size_t step = sh->sh_entsize == 8 || sh->sh_entsize == 16 ? sh->sh_entsize : 0;
	size_t got = sym_elf_section(image, ".got.plt");

	if (!data)
		return;
	if (!got)
		got = sym_elf_section(image, ".got");
	if (!step) /* some linkers leave it open; only .plt.got has short entries */
		step = strcmp(image->sh_names[section], ".plt.got") ? 16 : 8;
	for (size_t at = 0; at + step <= data->d_size; at += step) {
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		uint64_t addr = sh->sh_addr + at;
		const struct slot *slot = find_slot(
			s, m->machine == EM_386
				   ? sym_plt_slot_i386(code, step,
						       got ? image->sh[got].sh_addr : 0)
				   : sym_plt_slot_x86(code, step, addr));

		if (slot)
			add_entry(b, image, section, at, step, slot);
	}
}

static void scan_aarch64(const struct machine *m, struct sym_build *b,
			 const struct sym_elf *image, size_t section,
			 const struct slots *s)
{
	const GElf_Shdr *sh = &image->sh[section];
	const Elf_Data *data = section_bytes(image, section);
	const uint8_t *code = data ? data->d_buf : NULL;

	(void)m;
	for (size_t at = 0; code && at + 16 <= data->d_size; at += 4) {
		uint64_t got = sym_plt_slot_aarch64(code + at, 8, sh->sh_addr + at);
		const struct slot *slot = find_slot(s, got);
		size_t start = at;

		if (!slot)
			continue;
		if (at >= 4 && le32(code + at - 4) == 0xd503245f) /* bti c */
			start -= 4;
		/* adrp, ldr, add, br; with bti or pac two words more */
		add_entry(b, image, section, start,
			  sh->sh_entsize == 24 || start != at ? 24 : 16, slot);
	}
}

static const struct machine machines[] = {
	{ EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE,
	  scan_x86 },
	/* without addends in its relocations, the name of an indirect one is not known */
	{ EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, UINT32_MAX, scan_x86 },
	{ EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE,
	  scan_aarch64 },
};

static bool get_relocation(Elf_Data *data, Elf_Type form, int i, GElf_Rela *out)
{
	GElf_Rel r;

	if (form == ELF_T_RELA)
		return gelf_getrela(data, i, out);
	if (!gelf_getrel(data, i, &r))
		return false;
	*out = (GElf_Rela){ .r_offset = r.r_offset, .r_info = r.r_info };
	return true;
}

/* The entries of one relocation section that fill slots through which code jumps. */
static int add_slots(const struct machine *m, const struct sym_elf *image, size_t section,
		     struct slots *out)
{
	const GElf_Shdr *sh = &image->sh[section];
	Elf_Data *data = elf_getdata(elf_getscn(image->elf, section), NULL);
	Elf_Type form = sh->sh_type == SHT_RELA ? ELF_T_RELA : ELF_T_REL;
	size_t size = gelf_fsize(image->elf, form, 1, EV_CURRENT);
	struct slot s = { .sym_section = sh->sh_link };
	GElf_Rela r;

	if (!data || data->d_type != form || !size)
		return 0;
	if (sh->sh_link && sh->sh_link < image->nr_sh)
		s.strings = image->sh[sh->sh_link].sh_link;
	for (size_t i = 0; i < data->d_size / size && i < INT32_MAX; i++) {
		uint32_t type;

		if (!get_relocation(data, form, (int)i, &r))
			continue;
		type = (uint32_t)GELF_R_TYPE(r.r_info);
		if (type != m->jump_slot && type != m->glob_dat && type != m->irelative)
			continue;
		s.addr = r.r_offset;
		s.sym = (uint32_t)GELF_R_SYM(r.r_info);
		s.addend = r.r_addend;
		if (vec_push(out, s))
			return -ENOMEM;
	}
	return 0;
}

static const struct machine *find_machine(uint16_t number)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == number)
			return &machines[i];
	return NULL;
}

static bool is_plt(const struct sym_elf *image, size_t section)
{
	const GElf_Shdr *sh = &image->sh[section];

	return sh->sh_type == SHT_PROGBITS && sh->sh_flags & SHF_EXECINSTR &&
	       (!strncmp(image->sh_names[section], ".plt", 4) ||
		!strcmp(image->sh_names[section], ".iplt"));
}

/* Only .plt.got jumps through slots of .rel[a].dyn, which may be very long. */
static bool may_fill_slots(const struct sym_elf *image, size_t section)
{
	const GElf_Shdr *sh = &image->sh[section];

	const char *name = image->sh_names[section];
	bool long_one = !strcmp(name, ".rela.dyn") || !strcmp(name, ".rel.dyn");

	return (sh->sh_type == SHT_RELA || sh->sh_type == SHT_REL) &&
	       sh->sh_flags & SHF_ALLOC &&
	       (!long_one || sym_elf_section(image, ".plt.got"));
}

void sym_plt_add(const struct sym_elf *image, struct sym_build *b)
{
	const struct machine *m = find_machine(image->machine);
	struct slots slots = { 0 };
	size_t tables = 0;

	for (size_t i = 1; m && i < image->nr_sh; i++)
		tables += is_plt(image, i);
	for (size_t i = 1; tables && i < image->nr_sh; i++)
		if (may_fill_slots(image, i) && add_slots(m, image, i, &slots))
			b->failed = true;
	if (slots.len)
		qsort(slots.data, slots.len, sizeof(*slots.data), compare_slots);
	for (size_t i = 1; slots.len && i < image->nr_sh; i++)
		if (is_plt(image, i))
			m->scan(m, b, image, i, &slots);
	vec_fini(&slots);
}
