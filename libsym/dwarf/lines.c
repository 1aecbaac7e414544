/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/dwarf/lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/dwarf/altfile.h"
#include "libsym/dwarf/inlines.h"
#include "libsym/dwarf/lines_reader.h"
#include "libsym/dwarf/lines_rows.h"

static void reader_fini(struct sym_lines_reader *r)
{
	sym_dwarf_fini(&r->dw);
	sym_dwarf_fini(&r->alt);
	sym_elf_fini(&r->alt_elf);
	close_fd(&r->alt_fd);
	sym_wants_fini(&r->wants);
	sym_lines_build_fini(&r->b);
	map_fini(&r->texts);
	map_fini(&r->files);
	map_u64_fini(&r->functions);
	vec_fini(&r->runs);
	vec_fini(&r->scopes);
	vec_fini(&r->code);
	vec_fini(&r->ranges);
	vec_fini(&r->file_map);
}

/* The @i-th section of the image; false if it holds no code. */
static bool code_section(const struct sym_elf *e, size_t i, struct sym_dwarf_range *out)
{
	const GElf_Shdr *sh = &e->sh[i];

	out->lo = e->type == ET_REL ? sh->sh_offset : sh->sh_addr;
	out->hi = out->lo + sh->sh_size;
	return sh->sh_flags & SHF_EXECINSTR && out->lo < out->hi;
}

/* The code of the image; without section headers everything but address 0. */
static int read_code(struct sym_lines_reader *r)
{
	struct sym_dwarf_range s, all = { 1, UINT64_MAX };

	for (size_t i = 1; i < r->image->nr_sh; i++)
		if (code_section(r->image, i, &s) && vec_push(&r->code, s))
			return -ENOMEM;
	return r->code.len ? 0 : vec_push(&r->code, all);
}

static bool is_code(const struct sym_lines_reader *r, uint64_t vma)
{
	for (size_t i = 0; i < r->code.len; i++)
		if (vma >= r->code.data[i].lo && vma < r->code.data[i].hi)
			return true;
	return false;
}

/* Functions that the linker dropped keep ranges at or near address 0. */
static void drop_what_is_no_code(struct sym_lines_reader *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->ranges.len; i++)
		if (is_code(r, r->ranges.data[i].lo))
			r->ranges.data[kept++] = r->ranges.data[i];
	r->ranges.len = kept;
}

/* Sets r->ranges to the code of the unit, or of the image if the unit does not tell. */
static int find_code(struct sym_lines_reader *r, Dwarf_Die *cu)
{
	int rc = r->code.len ? 0 : read_code(r);

	if (rc)
		return rc;
	if (!dwarf_hasattr(cu, DW_AT_ranges) && !dwarf_hasattr(cu, DW_AT_high_pc)) {
		r->ranges.len = 0;
		if (vec_reserve(&r->ranges, r->code.len))
			return -ENOMEM;
		memcpy(r->ranges.data, r->code.data, r->code.len * sizeof(*r->code.data));
		r->ranges.len = r->code.len;
		return 0;
	}
	rc = sym_dwarf_code(&r->dw, cu, &r->ranges);
	if (!rc)
		drop_what_is_no_code(r);
	return rc;
}

static int begin_files(struct sym_lines_reader *r, Dwarf_Die *cu)
{
	Dwarf_Attribute a;
	const char *dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &a));
	size_t nr;

	r->comp_dir = dir ? dir : "";
	r->file_map.len = 0;
	if (dwarf_getsrcfiles(cu, &r->unit_files, &nr))
		return -EBADMSG;
	if (vec_reserve(&r->file_map, nr))
		return -ENOMEM;
	memset(r->file_map.data, 0, nr * sizeof(*r->file_map.data));
	r->file_map.len = nr;
	return 0;
}

static uint64_t address_of(Dwarf_Lines *lines, size_t i)
{
	Dwarf_Addr a = 0;

	dwarf_lineaddr(dwarf_onesrcline(lines, i), &a);
	return a;
}

/* The first line above @vma. */
static size_t above(Dwarf_Lines *lines, size_t nr, uint64_t vma)
{
	size_t lo = 0, hi = nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (address_of(lines, mid) <= vma)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static bool is_end(Dwarf_Lines *lines, size_t i)
{
	bool end = true;

	dwarf_lineendsequence(dwarf_onesrcline(lines, i), &end);
	return end;
}

static bool ends_range(const struct sym_lines_reader *r, uint64_t vma)
{
	for (size_t i = 0; i < r->ranges.len; i++)
		if (r->ranges.data[i].hi == vma)
			return true;
	return false;
}

/*
 * The lines of a function that the linker dropped begin at address 0.  If it is so long
 * that they overlap the image's code, nobody can tell which lines are whose, since libdw
 * sorts the lines of all functions together.  Returns where that ends, usually 0.
 */
static uint64_t mixed_until(const struct sym_lines_reader *r, Dwarf_Lines *lines,
			    size_t nr)
{
	uint64_t first = UINT64_MAX, until = 0;
	size_t i;

	for (i = 0; i < r->code.len; i++)
		if (r->code.data[i].lo < first)
			first = r->code.data[i].lo;
	i = first ? above(lines, nr, first - 1) : 0;
	if (!i || is_end(lines, i - 1))
		return 0;
	for (; i < nr; i++)
		if (is_end(lines, i) && !ends_range(r, address_of(lines, i)))
			until = address_of(lines, i);
	return until;
}

/* Of several lines for one address the last one counts, as in addr2line. */
static int take_range(struct sym_lines_reader *r, Dwarf_Lines *lines, size_t nr,
		      uint64_t lo, uint64_t hi)
{
	size_t i = above(lines, nr, lo);
	int rc = 0;

	for (i -= i > 0; i + 1 < nr && !rc; i++) {
		uint64_t at = address_of(lines, i), next = address_of(lines, i + 1);

		if (at >= hi)
			break;
		at = at < lo ? lo : at;
		if (at < next && !is_end(lines, i))
			rc = sym_lines_take_row(r, at, next < hi ? next : hi,
						dwarf_onesrcline(lines, i));
	}
	return rc;
}

static int read_lines(struct sym_lines_reader *r, Dwarf_Die *cu)
{
	Dwarf_Lines *lines;
	uint64_t mixed;
	size_t nr;
	int rc = 0;

	if (dwarf_getsrclines(cu, &lines, &nr))
		return -EBADMSG;
	mixed = mixed_until(r, lines, nr);
	for (size_t i = 0; i < r->ranges.len && !rc; i++) {
		uint64_t lo = r->ranges.data[i].lo, hi = r->ranges.data[i].hi;

		if (lo < mixed && sym_wants_any(&r->wants, lo, hi < mixed ? hi : mixed))
			r->mixed = true;
		lo = lo < mixed ? mixed : lo;
		if (lo < hi && sym_wants_any(&r->wants, lo, hi))
			rc = take_range(r, lines, nr, lo, hi);
	}
	return rc;
}

/* All code of the unit as if it was of one line, which nobody knows. */
static int take_ranges(struct sym_lines_reader *r)
{
	for (size_t i = 0; i < r->ranges.len; i++) {
		const struct sym_run run = { .lo = r->ranges.data[i].lo,
					     .hi = r->ranges.data[i].hi,
					     .file = SYM_LINE_NONE };

		if (sym_wants_any(&r->wants, run.lo, run.hi) && vec_push(&r->runs, run))
			return -ENOMEM;
	}
	r->file_map.len = 0;
	return 0;
}

/**
 * read_unit - reads one unit of r->dw
 * @type: DW_UT_; @cu: its first entry
 * Adds to r->runs and r->scopes if any of its code is asked for.  0, -EBADMSG if damaged
 * (what could be read was added), -ENOMEM.
 */
static int read_unit(struct sym_lines_reader *r, unsigned type, Dwarf_Die *cu)
{
	int rc, inlines = 0;

	if ((type != DW_UT_compile && type != DW_UT_skeleton) ||
	    dwarf_tag(cu) == DW_TAG_partial_unit || !dwarf_hasattr(cu, DW_AT_stmt_list))
		return 0;
	rc = find_code(r, cu);
	if (rc || !sym_lines_wanted(r))
		return rc;
	rc = r->with_lines ? begin_files(r, cu) : take_ranges(r);
	if (rc)
		return rc;
	if (r->with_lines)
		rc = read_lines(r, cu);
	if (r->with_inlines && type == DW_UT_compile && (!rc || rc == -EBADMSG))
		inlines = sym_inlines_read(r, cu);
	return rc ? rc : inlines;
}

static void note_damage(struct sym_lines_reader *r, uint64_t off)
{
	if (!r->nr_damaged++)
		r->first_damaged = off;
}

static int read_units(struct sym_lines_reader *r)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint64_t end = 0;
	uint8_t type;
	int rc, listed;

	while (!(listed = dwarf_get_units(r->dw.dw, cu, &cu, NULL, &type, &die, NULL))) {
		r->nr_units++;
		end = dwarf_dieoffset(&die);
		rc = read_unit(r, type, &die);
		if (rc == -EBADMSG)
			note_damage(r, end);
		else if (rc)
			return rc;
	}
	if (listed < 0) {
		r->nr_units++;
		note_damage(r, end);
	}
	return 0;
}

static void set_state(struct sym_lines_reader *r, enum sym_state state, const char *what)
{
	r->b.state = state;
	strbuf_reset(&r->b.reason);
	strbuf_printf(&r->b.reason, "%s: %s", strbuf_str(&r->load->b.path), what);
}

/* The most serious reason why lines are missing that should be there. */
static void tell_damage(struct sym_lines_reader *r)
{
	const char *path =
		strbuf_str(r->b.debug_path.len ? &r->b.debug_path : &r->load->b.path);
	struct strbuf *why = &r->b.reason;

	if (r->dw.unread || r->alt.unread)
		strbuf_printf(why,
			      "%s: source lines are missing: %s is damaged or too "
			      "large",
			      path, r->dw.unread ? r->dw.unread : r->alt.unread);
	else if (!r->dw.dw)
		strbuf_printf(why, "%s: its source lines (DWARF) are damaged", path);
	else if (r->nr_damaged)
		strbuf_printf(why,
			      "%s: its source lines (DWARF) are damaged in %zu of "
			      "%zu units, first about 0x%llx of .debug_info",
			      path, r->nr_damaged, r->nr_units,
			      (unsigned long long)r->first_damaged);
	else if (r->alt_err.code)
		strbuf_printf(why, "%s: source lines are incomplete: %s", path,
			      r->alt_err.msg);
	else if (r->mixed)
		strbuf_printf(why,
			      "%s: source lines are missing where those of functions "
			      "that the linker left out overlap them",
			      path);
	if (why->len)
		r->b.state = SYM_BROKEN;
}

/*
 * The file with DWARF: the image or its debug file.  NULL and the state if there is
 * none.
 */
static const struct sym_elf *find_dwarf(struct sym_lines_reader *r)
{
	struct sym_load *l = r->load;
	const struct sym_elf *elf = &l->image;

	if (!sym_dwarf_present(elf)) {
		elf = sym_load_debugfile(l) && sym_dwarf_present(&l->debug.elf)
			      ? &l->debug.elf
			      : NULL;
		if (elf)
			strbuf_puts(&r->b.debug_path, strbuf_str(&l->debug.path));
	}
	if (!elf)
		set_state(r, SYM_NO_SYMBOLS,
			  "no source lines: was built without -g or stripped, and no "
			  "separate debug file with them was found");
	return elf;
}

static int read_dwarf(struct sym_lines_reader *r, const struct sym_range *ranges,
		      size_t nr)
{
	const struct sym_elf *elf = find_dwarf(r);
	int rc;

	if (!elf)
		return 0;
	r->image = &r->load->image;
	rc = sym_wants_make(r->image, ranges, nr, &r->wants);
	if (rc || !r->wants.nr)
		return rc;
	if (sym_altfile_open(r->load, elf, &r->alt_fd, &r->alt_elf, &r->b.alt_path,
			     &r->b.alt_id, &r->alt_err) > 0 &&
	    !sym_dwarf_open(&r->alt_elf, NULL, &r->alt))
		err_set(&r->alt_err, -EBADMSG,
			"the file that its debug information shares with others (dwz) is "
			"damaged");
	if (sym_dwarf_open(elf, r->image, &r->dw)) {
		dwarf_setalt(r->dw.dw, r->alt.dw);
		rc = read_units(r);
	}
	if (!rc)
		rc = sym_lines_make_rows(r);
	if (!rc)
		tell_damage(r);
	return rc;
}

/* @l has been opened. */
static int encode(struct sym_load *l, const struct sym_range *ranges, size_t nr,
		  unsigned flags, struct strbuf *out, struct err *err)
{
	CLEANUP(reader_fini) struct sym_lines_reader r = { .load = l, .alt_fd = -1 };
	int rc = 0;

	r.with_inlines = flags & SYM_LINES_INLINES;
	r.with_lines = !(flags & SYM_LINES_ONLY_INLINES);
	if (!sym_usable(l->b.state)) {
		r.b.state = l->b.state;
		strbuf_puts(&r.b.reason, strbuf_str(&l->b.reason));
	} else if (l->kallsyms) {
		set_state(&r, SYM_NO_SYMBOLS,
			  "names of the running kernel come without source lines: those "
			  "are in a vmlinux or module file with debug information");
	} else {
		rc = read_dwarf(&r, ranges, nr);
	}
	if (!rc)
		rc = sym_lines_pack(&r.b, out);
	return rc ? err_errno(err, rc, "source lines of %s", strbuf_str(&l->b.path)) : 0;
}

int sym_lines_encode(const struct sym_job *job, const struct sym_range *ranges, size_t nr,
		     unsigned flags, struct strbuf *out, struct err *err)
{
	CLEANUP(sym_load_fini) struct sym_load l = SYM_LOAD_INIT(job);
	int rc = sym_load_open(&l);

	return rc ? err_errno(err, rc, "source lines of %s", strbuf_str(&l.b.path))
		  : encode(&l, ranges, nr, flags, out, err);
}

int sym_lines_load(const struct sym_job *job, const struct sym_range *ranges, size_t nr,
		   unsigned flags, struct sym_lines **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	int rc = sym_lines_encode(job, ranges, nr, flags, &blob, err);

	return rc ? rc : sym_lines_decode(blob.data, blob.len, flags, out, err);
}
