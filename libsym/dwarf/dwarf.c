/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/dwarf/dwarf.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "libsym/wire/request.h"

#ifdef OPFS_FUZZ
#define MAX_SECTION (4u << 20)
#define MAX_STEPS (UINT64_C(1) << 20)
#else
#define MAX_SECTION SYM_MAX_UNPACKED
#define MAX_STEPS (UINT64_C(1) << 32)
#endif
#define COMPRESS_ZSTD 2 /* ELFCOMPRESS_ZSTD, which Debian 12's libelf does not know */

/* "debug_info" of ".debug_info" and ".zdebug_info", the old form of packing; or NULL. */
static const char *debug_name(const char *section)
{
	section += *section == '.';
	section += *section == 'z';
	return strncmp(section, "debug_", 6) ? NULL : section;
}

static bool is_needed(const char *name)
{
	static const char *const needed[] = {
		"debug_info",     "debug_abbrev",   "debug_line",
		"debug_str",      "debug_line_str", "debug_ranges",
		"debug_rnglists", "debug_addr",     "debug_str_offsets",
	};

	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (!strcmp(needed[i], name))
			return true;
	return false;
}

bool sym_dwarf_present(const struct sym_elf *elf)
{
	return (sym_elf_section(elf, ".debug_line") ||
		sym_elf_section(elf, ".zdebug_line")) &&
	       (sym_elf_section(elf, ".debug_info") ||
		sym_elf_section(elf, ".zdebug_info"));
}

/* The old form: "ZLIB", the size in eight bytes, highest first. */
static bool unpack_old(Elf_Scn *scn)
{
	Elf_Data *raw = elf_rawdata(scn, NULL);
	const unsigned char *p = raw ? raw->d_buf : NULL;
	uint64_t size = 0;

	if (!p || raw->d_size < 12 || memcmp(p, "ZLIB", 4) != 0)
		return false;
	for (int i = 4; i < 12; i++)
		size = size << 8 | p[i];
	return size <= MAX_SECTION && elf_compress_gnu(scn, 0, 0) >= 0;
}

static bool unpack_zstd(struct sym_dwarf *d, Elf_Scn *scn, const GElf_Chdr *ch)
{
	size_t head = gelf_fsize(d->elf->elf, ELF_T_CHDR, 1, EV_CURRENT), got;
	Elf_Data *raw = elf_rawdata(scn, NULL), *data = elf_getdata(scn, NULL);
	void *out = arena_alloc(&d->arena, ch->ch_size + 1);
	GElf_Shdr sh;

	if (!raw || !raw->d_buf || raw->d_size <= head || !data || !out ||
	    !gelf_getshdr(scn, &sh))
		return false;
	got = ZSTD_decompress(out, ch->ch_size, (char *)raw->d_buf + head,
			      raw->d_size - head);
	if (ZSTD_isError(got))
		return false;
	raw->d_buf = data->d_buf = out; /* libdw looks at only one of them */
	raw->d_size = data->d_size = got;
	sh.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	sh.sh_size = got;
	return gelf_update_shdr(scn, &sh);
}

/* Bounded in size, since libdw does not check it. */
static bool unpack(struct sym_dwarf *d, size_t at, Elf_Scn *scn)
{
	GElf_Chdr ch;

	if (d->elf->sh_names[at][1] == 'z')
		return unpack_old(scn);
	if (!(d->elf->sh[at].sh_flags & SHF_COMPRESSED)) {
		Elf_Data *raw = elf_rawdata(scn, NULL);

		return raw && (raw->d_buf || !raw->d_size);
	}
	if (!gelf_getchdr(scn, &ch) || ch.ch_size > MAX_SECTION)
		return false;
	if (ch.ch_type == COMPRESS_ZSTD)
		return unpack_zstd(d, scn, &ch);
	return elf_compress(scn, 0, 0) >= 0;
}

/* May a string in it run beyond its end?  libdw does not look, nor do we. */
static bool ends_in_string(const char *name)
{
	return !strcmp(name, "debug_str") || !strcmp(name, "debug_line_str") ||
	       !strcmp(name, "debug_info");
}

/* Puts a zero behind a section that does not end with one. */
static bool terminate(struct sym_dwarf *d, Elf_Scn *scn)
{
	Elf_Data *raw = elf_rawdata(scn, NULL), *data = elf_getdata(scn, NULL);
	char *out;

	if (!raw || !data || raw->d_size != data->d_size)
		return false;
	if (!data->d_size || !((char *)data->d_buf)[data->d_size - 1])
		return true;
	out = arena_alloc(&d->arena, data->d_size + 1);
	if (!out)
		return false;
	memcpy(out, data->d_buf, data->d_size);
	out[data->d_size] = '\0';
	raw->d_buf = data->d_buf = out;
	return true;
}

/* libdw must not see sections that are not in the file. */
static void hide(Elf_Scn *scn)
{
	GElf_Shdr sh;

	if (gelf_getshdr(scn, &sh)) {
		sh.sh_type = SHT_NOBITS;
		sh.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
		gelf_update_shdr(scn, &sh);
	}
}

/*
 * Leaves libdw only the sections with line information, unpacked, which saves reading
 * the others.  The link to a dwz file is hidden as well: libdw would open that file with
 * the helper's rights, while libsym/dwarf/altfile.h uses the user's.
 */
static void prepare(struct sym_dwarf *d)
{
	for (size_t i = 1; i < d->elf->nr_sh; i++) {
		const char *name = debug_name(d->elf->sh_names[i]);
		Elf_Scn *scn = elf_getscn(d->elf->elf, i);

		if (!scn || d->elf->sh[i].sh_type == SHT_NOBITS)
			continue;
		if (!strcmp(d->elf->sh_names[i], ".gnu_debugaltlink")) {
			hide(scn);
		} else if (name && !is_needed(name)) {
			hide(scn);
		} else if (name && (!unpack(d, i, scn) ||
				    (ends_in_string(name) && !terminate(d, scn)))) {
			d->unread = d->elf->sh_names[i];
			hide(scn);
		}
	}
}

/* Relocations of hidden sections are hidden too: libdwfl would apply them. */
static void hide_relocations(const struct sym_dwarf *d)
{
	for (size_t i = 1; i < d->elf->nr_sh; i++) {
		Elf_Scn *scn = elf_getscn(d->elf->elf, i);
		GElf_Shdr sh;

		if ((d->elf->sh[i].sh_type == SHT_REL ||
		     d->elf->sh[i].sh_type == SHT_RELA) &&
		    gelf_getshdr(elf_getscn(d->elf->elf, d->elf->sh[i].sh_info), &sh) &&
		    sh.sh_type == SHT_NOBITS)
			hide(scn);
	}
}

static int find_elf(Dwfl_Module *mod, void **userdata, const char *name, Dwarf_Addr base,
		    char **path, Elf **out)
{
	struct sym_dwarf *d = *userdata;

	(void)mod, (void)name, (void)base, (void)path;
	*out = elf_begin(-1, ELF_C_READ, d->elf->elf); /* one more reference */
	return -1;
}

static int find_debuginfo(Dwfl_Module *mod, void **userdata, const char *name,
			  Dwarf_Addr base, const char *path, const char *link,
			  GElf_Word crc, char **out)
{
	(void)mod, (void)userdata, (void)name, (void)base;
	(void)path, (void)link, (void)crc, (void)out;
	return -1;
}

/*
 * The address of a section of a relocatable file: it has none, so its offset in the
 * image serves as one.
 */
static int section_address(Dwfl_Module *mod, void **userdata, const char *modname,
			   Dwarf_Addr base, const char *name, GElf_Word at,
			   const GElf_Shdr *sh, Dwarf_Addr *out)
{
	const struct sym_dwarf *d = *userdata;
	const struct sym_elf *image = d->image;

	(void)mod, (void)modname, (void)base;
	*out = (Dwarf_Addr)-1; /* not in the image */
	for (size_t i = 1; i < image->nr_sh; i++) {
		const GElf_Shdr *have = &image->sh[i];

		if (d->elf == image ? i == at
				    : have->sh_flags & SHF_ALLOC &&
					      have->sh_size == sh->sh_size &&
					      !strcmp(image->sh_names[i], name)) {
			*out = have->sh_offset;
			break;
		}
	}
	return DWARF_CB_OK;
}

/* A relocatable file: libdwfl relocates its DWARF as a linker would. */
static Dwarf *relocated(struct sym_dwarf *d)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = find_elf,
		.find_debuginfo = find_debuginfo,
		.section_address = section_address,
	};
	Dwfl_Module *mod;
	Dwarf_Addr bias;
	void **userdata;

	hide_relocations(d);
	d->dwfl = dwfl_begin(&callbacks);
	if (!d->dwfl)
		return NULL;
	mod = dwfl_report_module(d->dwfl, "image", 0, 1);
	if (!mod || !dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	*userdata = d;
	dwfl_report_end(d->dwfl, NULL, NULL);
	return dwfl_module_getdwarf(mod, &bias);
}

/* libdw cannot go on; this process is a helper with a single job. */
static void __attribute__((noreturn)) no_memory(void)
{
	_exit(SYM_HELPER_NO_MEMORY);
}

bool sym_dwarf_open(const struct sym_elf *elf, const struct sym_elf *image,
		    struct sym_dwarf *out)
{
	*out = (struct sym_dwarf){ .elf = elf, .image = image, .steps = MAX_STEPS };
	prepare(out);
	out->dw = image && elf->type == ET_REL
			  ? relocated(out)
			  : dwarf_begin_elf(elf->elf, DWARF_C_READ, NULL);
	if (out->dw)
		dwarf_new_oom_handler(out->dw, no_memory);
	return out->dw;
}

void sym_dwarf_fini(struct sym_dwarf *d)
{
	if (d->dwfl)
		dwfl_end(d->dwfl);
	else if (d->dw)
		dwarf_end(d->dw);
	arena_fini(&d->arena);
	*d = (struct sym_dwarf){ 0 };
}

int sym_dwarf_code(struct sym_dwarf *d, Dwarf_Die *die, sym_dwarf_ranges *out)
{
	struct sym_dwarf_range r;
	Dwarf_Addr base;
	ptrdiff_t at = 0;

	out->len = 0;
	while ((at = dwarf_ranges(die, at, &base, &r.lo, &r.hi)) > 0) {
		if (!d->steps || !d->steps--)
			return -EBADMSG;
		if (r.lo < r.hi && vec_push(out, r))
			return -ENOMEM;
	}
	return at ? -EBADMSG : 0;
}

const char *sym_dwarf_function(Dwarf_Die *die)
{
	static const unsigned names[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name,
					  DW_AT_name };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		Dwarf_Attribute a;
		const char *s = dwarf_formstring(dwarf_attr_integrate(die, names[i], &a));

		if (s && *s)
			return s;
	}
	return "";
}

bool sym_dwarf_number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
	Dwarf_Attribute a;
	Dwarf_Word v;

	if (dwarf_formudata(dwarf_attr(die, name, &a), &v))
		return false;
	*out = v;
	return true;
}
