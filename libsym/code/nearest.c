/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/code/nearest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"
#include "libsym/elf/minidebug.h"
#include "libsym/elf/plt.h"
#include "libsym/elf/versions.h"

void sym_nearest_fini(struct sym_nearest *n)
{
	vec_fini(&n->syms);
	vec_fini(&n->slots.list);
	arena_fini(&n->arena);
}

static bool contains_any(const char *name)
{
	return strstr(name, "gnu_compiled") || strstr(name, "gcc2_compiled");
}

static bool ends_like_file(const char *name)
{
	size_t len = strlen(name);

	return len > 2 && name[len - 2] == '.' &&
	       (name[len - 1] == 'o' || name[len - 1] == 'a');
}

/* Orders what has a property before what has not. */
static int first_has(bool a, bool b)
{
	return (int)b - (int)a;
}

/* Of two symbols at one address the more telling one comes first: objdump's order. */
static int compare_meaning(const struct sym_near *a, const struct sym_near *b)
{
	static const struct {
		uint32_t flag;
		bool first;
	} order[] = {
		{ SYM_NEAR_SECTION, false }, { SYM_NEAR_FUNCTION, true },
		{ SYM_NEAR_OBJECT, true },   { SYM_NEAR_LOCAL, false },
		{ SYM_NEAR_GLOBAL, true },
	};
	int rc = first_has(!contains_any(a->name), !contains_any(b->name));

	if (!rc)
		rc = first_has(!ends_like_file(a->name), !ends_like_file(b->name));
	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && !rc; i++)
		rc = first_has(!!(a->flags & order[i].flag) == order[i].first,
			       !!(b->flags & order[i].flag) == order[i].first);
	if (!rc && a->size != b->size)
		rc = a->size > b->size ? -1 : 1;
	if (!rc)
		rc = first_has(a->name[0] != '.', b->name[0] != '.');
	return rc ? rc : strcmp(a->name, b->name);
}

static int compare(const void *pa, const void *pb)
{
	const struct sym_near *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return compare_meaning(a, b);
}

static void add(struct sym_nearest *n, const struct sym_near *s)
{
	if (vec_push(&n->syms, *s))
		n->failed = true;
}

/* ---- symbol tables */

struct reader {
	const struct sym_elf *image, *from;
	struct sym_nearest *n;
	struct sym_versions versions; /* of a dynamic table */
	size_t names;                 /* section with the names */
	uint32_t *home;               /* sections of @from in the image */
};

/* In a separate debug file sections have the image's names. */
static int find_homes(struct reader *r)
{
	size_t nr = r->from->nr_sh;

	r->home = arena_calloc(&r->n->arena, nr, sizeof(*r->home));
	if (!r->home)
		return -ENOMEM;
	for (size_t i = 1; i < nr; i++) {
		size_t at = r->from == r->image
				    ? i
				    : sym_elf_section(r->image, r->from->sh_names[i]);

		r->home[i] = (uint32_t)(at ? at : i);
	}
	return 0;
}

/* Marks where an assembler switched between code and data. */
static bool is_mapping_symbol(const struct reader *r, const char *name)
{
	return r->image->machine == EM_AARCH64 && name[0] == '$' &&
	       (name[1] == 'x' || name[1] == 'd') && (!name[2] || name[2] == '.');
}

static uint32_t flags_of(const GElf_Sym *s)
{
	static const uint32_t of_type[16] = {
		[STT_OBJECT] = SYM_NEAR_OBJECT,
		[STT_FUNC] = SYM_NEAR_FUNCTION,
		[STT_COMMON] = SYM_NEAR_OBJECT,
		[STT_SECTION] = SYM_NEAR_SECTION,
	};
	static const uint32_t of_bind[16] = {
		[STB_LOCAL] = SYM_NEAR_LOCAL,
		[STB_GLOBAL] = SYM_NEAR_GLOBAL,
	};

	return of_type[GELF_ST_TYPE(s->st_info)] | of_bind[GELF_ST_BIND(s->st_info)];
}

/* Names of sections say nothing about an address, except for these. */
static bool is_telling_section(const char *name)
{
	return !strncmp(name, ".plt", 4) || !strcmp(name, ".got");
}

static const char *name_of(const struct reader *r, const GElf_Sym *s)
{
	const char *name = elf_strptr(r->from->elf, r->names, s->st_name);

	if (GELF_ST_TYPE(s->st_info) != STT_SECTION)
		return name && *name ? name : NULL;
	if (s->st_shndx >= r->from->nr_sh)
		return NULL;
	name = r->from->sh_names[s->st_shndx];
	return is_telling_section(name) ? name : NULL;
}

static void add_symbol(struct reader *r, const GElf_Sym *s, size_t at)
{
	struct sym_near out = { .value = s->st_value,
				.size = s->st_size,
				.flags = flags_of(s) };

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_COMMON ||
	    GELF_ST_TYPE(s->st_info) == STT_FILE)
		return;
	out.name = name_of(r, s);
	if (!out.name || is_mapping_symbol(r, out.name))
		return;
	if (s->st_shndx < r->from->nr_sh) {
		out.section = r->home[s->st_shndx];
		if (r->image->type == ET_REL)
			out.value += r->from->sh[s->st_shndx].sh_addr;
	}
	if (out.flags & SYM_NEAR_SECTION)
		out.size = 0;
	out.version = sym_versions_of(&r->versions, at);
	add(r->n, &out);
}

static size_t add_table(struct sym_nearest *n, const struct sym_elf *image,
			const struct sym_elf *from, uint32_t table)
{
	struct reader r = { .image = image, .from = from, .n = n };
	size_t at = 1, entry = gelf_fsize(from->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t before = n->syms.len;
	Elf_Data *data;
	GElf_Sym s;

	while (at < from->nr_sh && from->sh[at].sh_type != table)
		at++;
	if (at >= from->nr_sh || !entry)
		return 0;
	data = elf_getdata(elf_getscn(from->elf, at), NULL);
	if (!data || data->d_type != ELF_T_SYM)
		return 0;
	if (find_homes(&r)) {
		n->failed = true;
		return 0;
	}
	r.names = from->sh[at].sh_link;
	if (table == SHT_DYNSYM && sym_versions_read(&r.versions, from, &n->arena))
		n->failed = true;
	for (size_t i = 1; i < data->d_size / entry && i < SYM_MAX_SYMS; i++)
		if (gelf_getsym(data, (int)i, &s))
			add_symbol(&r, &s, i);
	return n->syms.len - before;
}

static uint32_t section_of(const struct sym_elf *image, uint64_t off)
{
	for (size_t i = 1; i < image->nr_sh; i++)
		if (image->sh[i].sh_type != SHT_NOBITS && off >= image->sh[i].sh_offset &&
		    off - image->sh[i].sh_offset < image->sh[i].sh_size)
			return (uint32_t)i;
	return 0;
}

static bool has_dynamic_symbols(const struct sym_elf *e)
{
	for (size_t i = 1; i < e->nr_sh; i++)
		if (e->sh[i].sh_type == SHT_DYNSYM &&
		    e->sh[i].sh_size > gelf_fsize(e->elf, ELF_T_SYM, 1, EV_CURRENT))
			return true;
	return false;
}

/* The made-up names live in the arena of l->b; objdump makes none in static programs. */
static void add_plt(struct sym_nearest *n, struct sym_load *l)
{
	size_t before = l->b.cands.len;

	if (!has_dynamic_symbols(&l->image))
		return;
	sym_plt_add(&l->image, &l->b);
	for (size_t i = before; i < l->b.cands.len; i++) {
		const struct sym_cand *c = &l->b.cands.data[i];
		struct sym_near s = {
			.value = c->vma,
			.name = c->name,
			.version = "",
			.section = section_of(&l->image, c->off),
			.flags = SYM_NEAR_SYNTHETIC | SYM_NEAR_FUNCTION | SYM_NEAR_GLOBAL,
		};

		add(n, &s);
	}
}

int sym_nearest_make(struct sym_nearest *n, struct sym_load *l)
{
	n->relocatable = l->image.type == ET_REL;
	if (!add_table(n, &l->image, &l->image, SHT_SYMTAB) &&
	    !(sym_load_debugfile(l) &&
	      add_table(n, &l->image, &l->debug.elf, SHT_SYMTAB))) {
		add_table(n, &l->image, &l->image, SHT_DYNSYM);
		if (l->mini.elf || !sym_minidebug_open(&l->image, &l->mini))
			add_table(n, &l->image, &l->mini, SHT_SYMTAB);
	}
	add_plt(n, l);
	if (n->syms.len)
		qsort(n->syms.data, n->syms.len, sizeof(*n->syms.data), compare);
	if (sym_slots_read(&n->slots, &l->image, &n->arena))
		n->failed = true;
	return n->failed || l->b.failed ? -ENOMEM : 0;
}

/* ---- questions */

/* The first of the symbols at the highest address that is not above @vma. */
static size_t first_at(const struct sym_nearest *n, uint64_t vma)
{
	const struct sym_near *s = n->syms.data;
	size_t lo = 0, hi = n->syms.len;
	uint64_t value;

	while (lo < hi) { /* the first above */
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].value <= vma)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return 0;
	value = s[lo - 1].value;
	for (hi = lo - 1, lo = 0; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].value < value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The nearest one of a section: below @at if there is one, else above; NULL: none. */
static const struct sym_near *of_section(const struct sym_nearest *n, size_t at,
					 size_t section)
{
	const struct sym_near *s = n->syms.data, *best = NULL;

	for (size_t i = at + 1; i-- > 0;) {
		if (best && s[i].value != best->value)
			break;
		if (s[i].section == section)
			best = &s[i];
	}
	for (size_t i = at + 1; i < n->syms.len && !best; i++)
		if (s[i].section == section)
			best = &s[i];
	return best;
}

static const struct sym_near *find(const struct sym_nearest *n, uint64_t vma,
				   size_t section, bool require)
{
	const struct sym_near *s = n->syms.data;
	size_t first, at;

	if (!n->syms.len)
		return NULL;
	first = first_at(n, vma);
	for (at = first; at < n->syms.len && s[at].value == s[first].value; at++)
		if (s[at].section == section)
			return &s[at];
	return require ? of_section(n, at - 1, section) : &s[first];
}

static void print_name(const char *name, const char *version, uint64_t value,
		       uint64_t vma, struct strbuf *out)
{
	strbuf_puts(out, " <");
	strbuf_puts(out, name);
	strbuf_puts(out, version);
	if (vma != value) {
		strbuf_puts(out, vma > value ? "+0x" : "-0x");
		hex_add_number(out, vma > value ? vma - value : value - vma, 0, ' ');
	}
	strbuf_putc(out, '>');
}

void sym_nearest_print(const struct sym_nearest *n, uint64_t vma, size_t section,
		       uint64_t lo, uint64_t hi, struct strbuf *out)
{
	bool require = n->relocatable && vma >= lo && vma < hi;
	const struct sym_near *s = find(n, vma, section, require);
	const struct sym_slot *slot = NULL;

	if (!n->syms.len)
		strbuf_puts(out, "0x");
	hex_add_number(out, vma, 0, ' ');
	if (!s)
		return;
	if (!require && s->section != section && !(s->flags & SYM_NEAR_SYNTHETIC))
		slot = sym_slots_find(&n->slots, vma);
	if (slot)
		print_name(slot->name, slot->version, slot->undefined ? vma : slot->value,
			   vma, out);
	else
		print_name(s->name, s->version, s->value, vma, out);
}

const struct sym_near *sym_nearest_block(const struct sym_nearest *n, uint64_t vma,
					 size_t section, uint64_t *end)
{
	const struct sym_near *s = find(n, vma, section, true);
	const struct sym_near *stop, *next = s;

	if (!s)
		return NULL;
	stop = n->syms.data + n->syms.len;
	while (next < stop && (next->value <= vma || next->section != section))
		next++;
	if (next < stop && next->value < *end)
		*end = next->value;
	return s->value <= vma ? s : NULL;
}
