/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/elf.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/elf/unpack.h"

void sym_elf_fini(struct sym_elf *e)
{
	if (e->elf)
		elf_end(e->elf);
	free(e->mem);
	arena_fini(&e->arena);
	*e = (struct sym_elf){ 0 };
}

static int out_of_memory(struct err *err)
{
	return err_set(err, -ENOMEM, "out of memory");
}

static int read_sections(struct sym_elf *e, struct err *err)
{
	size_t nr = 0, names = 0;

	if (elf_getshdrnum(e->elf, &nr) || !nr)
		return 0; /* stripped of them: the segments must do */
	if (elf_getshdrstrndx(e->elf, &names))
		names = 0;
	e->sh = arena_calloc(&e->arena, nr, sizeof(*e->sh));
	e->sh_names = arena_calloc(&e->arena, nr, sizeof(*e->sh_names));
	if (!e->sh || !e->sh_names)
		return out_of_memory(err);
	for (size_t i = 0; i < nr; i++) {
		Elf_Scn *scn = elf_getscn(e->elf, i);

		e->sh_names[i] = "";
		if (!scn || !gelf_getshdr(scn, &e->sh[i])) {
			e->sh[i] = (GElf_Shdr){ 0 };
			continue;
		}
		if (names)
			e->sh_names[i] = elf_strptr(e->elf, names, e->sh[i].sh_name);
		if (!e->sh_names[i])
			e->sh_names[i] = "";
	}
	e->nr_sh = nr;
	return 0;
}

static int read_segments(struct sym_elf *e, struct err *err)
{
	size_t nr = 0;
	GElf_Phdr ph;

	if (elf_getphdrnum(e->elf, &nr) || !nr)
		return 0;
	e->loads = arena_calloc(&e->arena, nr, sizeof(*e->loads));
	if (!e->loads)
		return out_of_memory(err);
	for (size_t i = 0; i < nr && i < INT32_MAX; i++)
		if (gelf_getphdr(e->elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
		    ph.p_filesz)
			e->loads[e->nr_loads++] = (struct sym_section){
				.off = ph.p_offset, .size = ph.p_filesz, .vma = ph.p_vaddr
			};
	return 0;
}

static int read_headers(struct sym_elf *e, struct err *err)
{
	GElf_Ehdr eh;
	int rc;

	if (!e->elf || elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &eh))
		return err_set(err, -ENOEXEC, "is not an ELF file");
	e->type = eh.e_type;
	e->machine = eh.e_machine;
	rc = read_sections(e, err);
	return rc ? rc : read_segments(e, err);
}

int sym_elf_memory(void *image, size_t size, struct sym_elf *out, struct err *err)
{
	CLEANUP(sym_elf_fini) struct sym_elf e = { 0 };
	int rc;

	elf_version(EV_CURRENT);
	e.elf = elf_memory(image, size);
	rc = read_headers(&e, err);
	if (!rc)
		*out = TAKE(e);
	return rc;
}

/* Read, not mapped: a file that shrinks meanwhile is an error, not a signal. */
int sym_elf_open(int fd, bool packed, struct sym_elf *out, struct err *err)
{
	CLEANUP(sym_elf_fini) struct sym_elf e = { 0 };
	unsigned char magic[4] = { 0 };
	size_t size;
	int rc;

	elf_version(EV_CURRENT);
	if (file_pread_all(fd, magic, sizeof(magic), 0) < 0)
		return err_set(err, -ENOEXEC, "cannot be read");
	if (!memcmp(magic, ELFMAG, SELFMAG)) {
		e.elf = elf_begin(fd, ELF_C_READ, NULL);
	} else if (packed && sym_unpack_is_zstd(magic)) {
		rc = sym_unpack_zstd(fd, SYM_MAX_UNPACKED, &e.mem, &size, err);
		if (rc)
			return rc;
		e.elf = elf_memory(e.mem, size);
	} else if (packed) {
		e.elf = dwelf_elf_begin(fd);
	}
	rc = read_headers(&e, err);
	if (!rc)
		*out = TAKE(e);
	return rc;
}

bool sym_elf_is_code(const struct sym_elf *e)
{
	return e->type == ET_EXEC || e->type == ET_DYN || e->type == ET_REL;
}

void sym_elf_build_id(const struct sym_elf *e, struct build_id *out)
{
	const void *bits = NULL;
	ssize_t len = dwelf_elf_gnu_build_id(e->elf, &bits);

	*out = (struct build_id){ 0 };
	if (len <= 0 || !bits)
		return;
	if (len > BUILD_ID_MAX)
		len = BUILD_ID_MAX;
	out->len = (uint8_t)len;
	memcpy(out->bytes, bits, out->len);
}

size_t sym_elf_section(const struct sym_elf *e, const char *name)
{
	for (size_t i = 1; i < e->nr_sh; i++)
		if (e->sh[i].sh_type != SHT_NOBITS && !strcmp(e->sh_names[i], name))
			return i;
	return 0;
}

void sym_elf_add_sections(const struct sym_elf *e, struct sym_build *b)
{
	for (size_t i = 0; i < e->nr_loads; i++)
		sym_build_section(b, e->loads[i].off, e->loads[i].size, e->loads[i].vma);
	for (size_t i = 1; i < e->nr_sh && !e->nr_loads; i++)
		if (e->sh[i].sh_flags & SHF_ALLOC && e->sh[i].sh_type != SHT_NOBITS)
			sym_build_section(b, e->sh[i].sh_offset, e->sh[i].sh_size,
					  e->sh[i].sh_addr);
}

struct reader { /* of one symbol table */
	const struct sym_elf *image, *from;
	size_t *home; /* section of from -> the same one of image; 0: none */
	struct sym_build *b;
	size_t names; /* section with the names */
};

static bool same_section(const struct reader *r, size_t from, size_t image)
{
	const GElf_Shdr *a = &r->from->sh[from], *b = &r->image->sh[image];

	return b->sh_flags & SHF_EXECINSTR && b->sh_type != SHT_NOBITS &&
	       a->sh_addr == b->sh_addr && a->sh_size == b->sh_size &&
	       !strcmp(r->from->sh_names[from], r->image->sh_names[image]);
}

/*
 * Pairs the code sections of a debug file with those of its image.  Both have them in
 * the same order, so each search begins where the last one ended.
 */
static int find_homes(struct reader *r, struct arena *arena)
{
	size_t next = 1, nr = r->from->nr_sh;

	r->home = arena_calloc(arena, nr, sizeof(*r->home));
	if (!r->home)
		return -ENOMEM;
	for (size_t i = 1; i < nr; i++) {
		const GElf_Shdr *sh = &r->from->sh[i];

		if (!(sh->sh_flags & SHF_EXECINSTR))
			continue;
		if (r->from == r->image) {
			r->home[i] = sh->sh_type == SHT_NOBITS ? 0 : i;
			continue;
		}
		for (size_t j = next; j < r->image->nr_sh && !r->home[i]; j++)
			if (same_section(r, i, j))
				r->home[i] = j;
		if (r->home[i])
			next = r->home[i] + 1;
	}
	return 0;
}

/* Sets off and limit from the symbol's address; false if the image has no byte there. */
static bool place(const struct reader *r, size_t shndx, uint64_t value,
		  struct sym_cand *c)
{
	const GElf_Shdr *sh;

	if (r->home[shndx]) {
		sh = &r->image->sh[r->home[shndx]];
		/* in a relocatable file values count from their section */
		if (r->image->type == ET_REL)
			value += sh->sh_addr;
		if (value < sh->sh_addr || value - sh->sh_addr >= sh->sh_size ||
		    __builtin_add_overflow(sh->sh_offset, sh->sh_size, &c->limit))
			return false;
		c->vma = value;
		c->off = sh->sh_offset + (value - sh->sh_addr);
		return true;
	}
	for (size_t i = 0; r->from != r->image && i < r->image->nr_loads; i++) {
		const struct sym_section *l = &r->image->loads[i];

		if (value < l->vma || value - l->vma >= l->size ||
		    __builtin_add_overflow(l->off, l->size, &c->limit))
			continue;
		c->vma = value;
		c->off = l->off + (value - l->vma);
		return true;
	}
	return false;
}

/* $a, $t, $d, $x and $x.more: where an assembler switched between code and data. */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	return (machine == EM_ARM || machine == EM_AARCH64 || machine == EM_RISCV) &&
	       name[0] == '$' && name[1] && strchr("atdx", name[1]) &&
	       (!name[2] || name[2] == '.');
}

static bool is_wanted(const struct reader *r, const GElf_Sym *s)
{
	unsigned type = GELF_ST_TYPE(s->st_info);

	return s->st_shndx != SHN_UNDEF && s->st_shndx < r->from->nr_sh &&
	       s->st_shndx < SHN_LORESERVE && type != STT_SECTION && type != STT_FILE &&
	       r->from->sh[s->st_shndx].sh_flags & SHF_EXECINSTR;
}

static const char *name_of(const struct reader *r, const GElf_Sym *s)
{
	const char *name = elf_strptr(r->from->elf, r->names, s->st_name);
	const char *section = r->from->sh_names[s->st_shndx];
	size_t size;
	char *made;

	if (!name || !strncmp(name, ".L", 2) || !strcmp(name, "gcc2_compiled.") ||
	    is_mapping_symbol(r->from->machine, name))
		return NULL;
	if (*name)
		return name;
	size = strlen(section) + sizeof("??");
	made = arena_alloc(&r->b->arena, size);
	if (!made) {
		r->b->failed = true;
		return NULL;
	}
	snprintf(made, size, "??%s", section);
	return made;
}

static bool add_symbol(const struct reader *r, const GElf_Sym *s)
{
	unsigned bind = GELF_ST_BIND(s->st_info);
	struct sym_cand c = { .size = s->st_size };

	if (!is_wanted(r, s))
		return false;
	c.name = name_of(r, s);
	if (!c.name || !place(r, s->st_shndx, s->st_value, &c))
		return false;
	if (bind != STB_LOCAL)
		c.flags |= SYM_GLOBAL;
	if (bind == STB_WEAK)
		c.flags |= SYM_WEAK;
	sym_build_add(r->b, &c);
	return true;
}

size_t sym_elf_add_symbols(const struct sym_elf *image, const struct sym_elf *from,
			   uint32_t table, struct sym_build *b)
{
	struct reader r = { .image = image, .from = from, .b = b };
	Elf_Data *data = NULL;
	size_t at, nr, added = 0;
	GElf_Sym s;

	for (at = 1; at < from->nr_sh && from->sh[at].sh_type != table; at++)
		;
	if (at >= from->nr_sh || from->sh[at].sh_link >= from->nr_sh)
		return 0;
	data = elf_getdata(elf_getscn(from->elf, at), NULL);
	nr = gelf_fsize(from->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (!data || data->d_type != ELF_T_SYM || !nr)
		return 0;
	if (find_homes(&r, &b->arena)) {
		b->failed = true;
		return 0;
	}
	r.names = from->sh[at].sh_link;
	nr = data->d_size / nr;
	for (size_t i = 1; i < nr && i < SYM_MAX_SYMS; i++)
		if (gelf_getsym(data, (int)i, &s))
			added += add_symbol(&r, &s);
	return added;
}
