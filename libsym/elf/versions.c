/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/elf/versions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_VERSIONS 0x8000u
#define HIDDEN 0x8000u

struct reader {
	struct sym_versions *v;
	const struct sym_elf *e;
	struct arena *arena;
	Elf_Data *data;
	size_t names; /* section with the names */
	bool failed;
};

static void set(struct reader *r, unsigned number, const char *name, bool needed)
{
	size_t size;
	char *text;

	number &= MAX_VERSIONS - 1;
	if (!name || number < 1 || r->v->names[number])
		return;
	size = strlen(name) + 3;
	text = arena_alloc(r->arena, size);
	if (!text) {
		r->failed = true;
		return;
	}
	snprintf(text, size, "@@%s", name);
	r->v->names[number] = text;
	r->v->needed[number] = needed;
}

static const char *string(const struct reader *r, size_t at)
{
	return elf_strptr(r->e->elf, r->names, at);
}

/*
 * Steps are unsigned and never 0, and offsets are ints: both loops end at the section's
 * end.
 */
static void read_definitions(struct reader *r)
{
	GElf_Verdef def;
	GElf_Verdaux aux;

	for (int64_t at = 0; at < INT32_MAX && gelf_getverdef(r->data, (int)at, &def);
	     at += def.vd_next) {
		int64_t name_at = at + def.vd_aux;

		if (def.vd_flags & VER_FLG_BASE)
			set(r, 1, "Base", false);
		else if (name_at < INT32_MAX &&
			 gelf_getverdaux(r->data, (int)name_at, &aux))
			set(r, def.vd_ndx, string(r, aux.vda_name), false);
		if (!def.vd_next)
			break;
	}
}

static void read_needs_of(struct reader *r, int64_t at, unsigned nr)
{
	GElf_Vernaux aux;

	for (unsigned i = 0; i < nr && at < INT32_MAX; i++) {
		if (!gelf_getvernaux(r->data, (int)at, &aux))
			break;
		set(r, aux.vna_other, string(r, aux.vna_name), true);
		at += aux.vna_next;
		if (!aux.vna_next)
			break;
	}
}

static void read_needs(struct reader *r)
{
	GElf_Verneed need;

	for (int64_t at = 0; at < INT32_MAX && gelf_getverneed(r->data, (int)at, &need);
	     at += need.vn_next) {
		read_needs_of(r, at + need.vn_aux, need.vn_cnt);
		if (!need.vn_next)
			break;
	}
}

static const struct {
	uint32_t section;
	void (*read)(struct reader *r);
} tables[] = {
	{ SHT_GNU_verdef, read_definitions },
	{ SHT_GNU_verneed, read_needs },
};

static int make_room(struct sym_versions *v, struct arena *arena)
{
	v->nr = MAX_VERSIONS;
	v->names = arena_calloc(arena, v->nr, sizeof(*v->names));
	v->needed = arena_calloc(arena, v->nr, sizeof(*v->needed));
	return v->names && v->needed ? 0 : -ENOMEM;
}

static void read_table(struct reader *r, size_t section)
{
	uint32_t type = r->e->sh[section].sh_type;
	Elf_Data *data = elf_getdata(elf_getscn(r->e->elf, section), NULL);

	if (type == SHT_GNU_versym)
		r->v->of_syms = data;
	r->data = data;
	r->names = r->e->sh[section].sh_link;
	for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
		if (data && tables[t].section == type)
			tables[t].read(r);
}

int sym_versions_read(struct sym_versions *v, const struct sym_elf *e,
		      struct arena *arena)
{
	struct reader r = { .v = v, .e = e, .arena = arena };
	size_t tables_there = 0;

	for (size_t i = 1; i < e->nr_sh; i++)
		tables_there += e->sh[i].sh_type == SHT_GNU_verdef ||
				e->sh[i].sh_type == SHT_GNU_verneed;
	if (!tables_there)
		return 0;
	if (make_room(v, arena))
		return -ENOMEM;
	for (size_t i = 1; i < e->nr_sh; i++)
		read_table(&r, i);
	if (!v->names[1])
		set(&r, 1, "Base", false);
	return r.failed ? -ENOMEM : 0;
}

const char *sym_versions_of(const struct sym_versions *v, size_t at)
{
	GElf_Versym number;
	size_t i;

	if (!v->of_syms || at > INT32_MAX ||
	    !gelf_getversym(v->of_syms, (int)at, &number))
		return "";
	i = number & (MAX_VERSIONS - 1);
	if (!i || i >= v->nr || !v->names[i])
		return "";
	return v->names[i] + (number & HIDDEN || v->needed[i]);
}
