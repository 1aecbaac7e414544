/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/slots.h"

#include <errno.h>
#include <stdlib.h>

#include "libsym/elf/versions.h"

struct reader {
	const struct sym_elf *e;
	struct sym_slots *out;
	struct sym_versions versions;
	Elf_Data *syms; /* .dynsym */
	size_t table, names;
	bool failed;
};

static int compare(const void *pa, const void *pb)
{
	const struct sym_slot *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void add(struct reader *r, uint64_t addr, size_t sym)
{
	struct sym_slot slot = { .addr = addr, .order = (uint32_t)r->out->list.len };
	GElf_Sym s;

	if (!sym || sym > INT32_MAX || !gelf_getsym(r->syms, (int)sym, &s) ||
	    s.st_shndx == SHN_ABS)
		return;
	slot.name = elf_strptr(r->e->elf, r->names, s.st_name);
	if (!slot.name || !*slot.name)
		return;
	slot.value = s.st_value;
	slot.undefined = s.st_shndx == SHN_UNDEF;
	slot.version = sym_versions_of(&r->versions, sym);
	if (slot.undefined && slot.version[0] && slot.version[1] == '@')
		slot.version++;
	if (vec_push(&r->out->list, slot))
		r->failed = true;
}

static void read_section(struct reader *r, size_t at)
{
	const GElf_Shdr *sh = &r->e->sh[at];
	Elf_Data *data = elf_getdata(elf_getscn(r->e->elf, at), NULL);
	Elf_Type type = sh->sh_type == SHT_RELA ? ELF_T_RELA : ELF_T_REL;
	size_t size = gelf_fsize(r->e->elf, type, 1, EV_CURRENT);
	GElf_Rela rela;
	GElf_Rel rel;

	if (!data || data->d_type != type || !size)
		return;
	for (size_t i = 0; i < data->d_size / size && i < INT32_MAX; i++) {
		if (type == ELF_T_RELA && gelf_getrela(data, (int)i, &rela))
			add(r, rela.r_offset, GELF_R_SYM(rela.r_info));
		else if (type == ELF_T_REL && gelf_getrel(data, (int)i, &rel))
			add(r, rel.r_offset, GELF_R_SYM(rel.r_info));
	}
}

int sym_slots_read(struct sym_slots *s, const struct sym_elf *e, struct arena *arena)
{
	struct reader r = { .e = e, .out = s };

	for (size_t i = 1; i < e->nr_sh && !r.table; i++)
		if (e->sh[i].sh_type == SHT_DYNSYM)
			r.table = i;
	if (!r.table)
		return 0;
	r.names = e->sh[r.table].sh_link;
	r.syms = elf_getdata(elf_getscn(e->elf, r.table), NULL);
	if (!r.syms || r.syms->d_type != ELF_T_SYM)
		return 0;
	if (sym_versions_read(&r.versions, e, arena))
		return -ENOMEM;
	for (size_t i = 1; i < e->nr_sh; i++)
		if ((e->sh[i].sh_type == SHT_RELA || e->sh[i].sh_type == SHT_REL) &&
		    e->sh[i].sh_link == r.table)
			read_section(&r, i);
	if (s->list.len)
		qsort(s->list.data, s->list.len, sizeof(*s->list.data), compare);
	return r.failed ? -ENOMEM : 0;
}

/* The last of those of one place, which is what the place will hold. */
const struct sym_slot *sym_slots_find(const struct sym_slots *s, uint64_t addr)
{
	size_t lo = 0, hi = s->list.len;

	while (lo < hi) { /* the first above */
		size_t mid = lo + (hi - lo) / 2;

		if (s->list.data[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && s->list.data[lo - 1].addr == addr ? &s->list.data[lo - 1] : NULL;
}
