/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/dwarf/entries.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/vec.h"

/* The largest binaries have a third of it. */
#define MAX_BYTES (64u << 20)

/* Each entry is looked for in all of them; linkers make less than ten. */
enum { MAX_LOADS = 64 };

struct shared { /* what entries share: a CIE */
	uint64_t at;
	uint8_t encoding; /* DW_EH_PE_...: how these have their addresses */
};

struct reader {
	const struct sym_elf *e;
	struct sym_build *b;
	const unsigned char *ident;
	size_t address_size;
	Elf_Data *data;
	uint64_t vma;            /* where the section is in memory */
	VEC(struct shared) cies; /* by @at */
};

/* ---- encoded addresses */

/* Bytes of an encoded address; 0: that depends on its value. */
static size_t width_of(const struct reader *r, uint8_t encoding)
{
	static const uint8_t widths[DW_EH_PE_signed] = {
		[DW_EH_PE_udata2] = 2, [DW_EH_PE_udata4] = 4, [DW_EH_PE_udata8] = 8
	};
	unsigned format = encoding % DW_EH_PE_signed;

	return format == DW_EH_PE_absptr ? r->address_size : widths[format];
}

/* Only a program that runs can follow what is left out here. */
static bool is_known(const struct reader *r, uint8_t encoding)
{
	uint8_t base = encoding & 0xf0;

	return width_of(r, encoding) &&
	       (base == DW_EH_PE_absptr || base == DW_EH_PE_pcrel);
}

/* A number of @width bytes in the file's byte order. */
static uint64_t read_number(const struct reader *r, const uint8_t *at, size_t width)
{
	bool big = r->ident[EI_DATA] == ELFDATA2MSB;
	uint64_t value = 0;

	for (size_t i = 0; i < width; i++)
		value = value << 8 | at[big ? i : width - 1 - i];
	return value;
}

static uint64_t read_address(const struct reader *r, const uint8_t *at, uint8_t encoding)
{
	size_t unused = 8 * (8 - width_of(r, encoding));
	uint64_t value = read_number(r, at, width_of(r, encoding)) << unused;

	value = encoding & DW_EH_PE_signed ? (uint64_t)((int64_t)value >> unused)
					   : value >> unused;
	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		value += r->vma + (uint64_t)(at - (const uint8_t *)r->data->d_buf);
	return r->address_size == 4 ? (uint32_t)value : value;
}

/* ---- what entries share */

/* The augmentation: a letter for each of the data that follow, up to that for addresses.
 * DW_EH_PE_omit: one is not known. */
static uint8_t encoding_of(const struct reader *r, const Dwarf_CIE *cie)
{
	const char *letter = cie->augmentation;
	size_t at = 0, size = cie->augmentation_data_size;
	const uint8_t *data = cie->augmentation_data;

	if (!*letter)
		return DW_EH_PE_absptr;
	if (*letter != 'z' || !data)
		return DW_EH_PE_omit;
	while (*++letter && *letter != 'R') {
		if (*letter == 'P' && at < size && width_of(r, data[at]))
			at += width_of(r, data[at]) + 1;
		else if (*letter == 'L')
			at++;
		else if (*letter != 'S' && *letter != 'B')
			return DW_EH_PE_omit;
	}
	if (!*letter)
		return DW_EH_PE_absptr;
	return at < size ? data[at] : DW_EH_PE_omit;
}

static void add_cie(struct reader *r, uint64_t at, const Dwarf_CIE *cie)
{
	const struct shared s = { at, encoding_of(r, cie) };

	if (is_known(r, s.encoding) && vec_push(&r->cies, s))
		r->b->failed = true;
}

/* Entries come after what they share, so that it is known already. */
static const struct shared *cie_of(const struct reader *r, const Dwarf_FDE *fde)
{
	size_t lo = 0, hi = r->cies.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const struct shared *s = &r->cies.data[mid];

		if (s->at == fde->CIE_pointer)
			return s;
		if (s->at < fde->CIE_pointer)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* ---- entries */

/* Where it is in the file, as far as it is there. */
static void place(const struct reader *r, uint64_t vma, uint64_t size)
{
	for (size_t i = 0; i < r->e->nr_loads; i++) {
		const struct sym_section *l = &r->e->loads[i];
		uint64_t at = vma - l->vma;

		if (vma < l->vma || at >= l->size)
			continue;
		sym_build_entry(r->b, l->off + at,
				size < l->size - at ? size : l->size - at, vma);
		return;
	}
}

static void add_fde(const struct reader *r, const Dwarf_FDE *fde)
{
	const struct shared *s = cie_of(r, fde);
	size_t width = s ? width_of(r, s->encoding) : 0;

	if (s && (size_t)(fde->end - fde->start) >= 2 * width)
		place(r, read_address(r, fde->start, s->encoding),
		      read_number(r, fde->start + width, width));
}

static void read_all(struct reader *r)
{
	Dwarf_Off at = 0, next;
	Dwarf_CFI_Entry entry;

	for (; at < r->data->d_size; at = next) {
		int rc;

		next = at; /* stays so where nothing can follow */
		rc = dwarf_next_cfi(r->ident, r->data, true, at, &next, &entry);
		if (rc > 0 || next <= at)
			return;
		if (!rc && dwarf_cfi_cie_p(&entry))
			add_cie(r, at, &entry.cie);
		else if (!rc)
			add_fde(r, &entry.fde);
	}
}

void sym_entries_add(const struct sym_elf *e, struct sym_build *b)
{
	size_t at = sym_elf_section(e, ".eh_frame");
	struct reader r = { .e = e, .b = b };

	if (!at || e->sh[at].sh_size > MAX_BYTES || e->nr_loads > MAX_LOADS)
		return;
	r.ident = (const unsigned char *)elf_getident(e->elf, NULL);
	r.data = elf_rawdata(elf_getscn(e->elf, at), NULL);
	if (!r.ident || !r.data || !r.data->d_buf)
		return;
	r.address_size = r.ident[EI_CLASS] == ELFCLASS32 ? 4 : 8;
	r.vma = e->sh[at].sh_addr;
	read_all(&r);
	vec_fini(&r.cies);
}
