/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/lines_unit.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/inlines.h"
#include "libsym/lines_rows.h"

/* Appends "/a/b" for each part of a path, without "." and "..". */
static void add_path(struct strbuf *out, const char *path)
{
	while (*path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && !memcmp(path, "..", 2)) {
			while (out->len && out->data[out->len - 1] != '/')
				strbuf_truncate(out, out->len - 1);
			if (out->len)
				strbuf_truncate(out, out->len - 1);
		} else if (len && !(len == 1 && *path == '.')) {
			strbuf_putc(out, '/');
			strbuf_add(out, path, len);
		}
		path += len;
		path += *path == '/';
	}
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return !strncmp(path, dir, len) && path[len] == '/';
}

static int intern_path(struct sym_lines_reader *r, const char *path, size_t len,
		       uint32_t *out)
{
	uint64_t known;
	uint32_t text;
	int rc;

	if (map_get(&r->files, path, len, &known)) {
		*out = (uint32_t)known;
		return 0;
	}
	rc = sym_lines_text(r, path, &text);
	if (!rc)
		rc = vec_push(&r->b.files, text);
	if (rc)
		return rc;
	*out = (uint32_t)r->b.files.len - 1;
	return map_set(&r->files, path, len, *out);
}

/* libdw joins name and directory, and both with that of compilation only for some. */
static int read_path(struct sym_lines_reader *r, const char *src, uint32_t *out)
{
	CLEANUP(strbuf_fini) struct strbuf path = { 0 };
	bool absolute = *src == '/';

	if (!absolute && !is_below(src, r->comp_dir)) {
		add_path(&path, r->comp_dir);
		absolute = *r->comp_dir == '/';
	}
	add_path(&path, src);
	if (strbuf_error(&path))
		return -ENOMEM;
	if (path.len < 2)
		return 0;
	return intern_path(r, strbuf_str(&path) + !absolute, path.len - !absolute, out);
}

int sym_lines_file(struct sym_lines_reader *r, uint64_t file, uint32_t *out)
{
	const char *src;
	int rc;

	*out = SYM_LINE_NONE;
	if (file >= r->file_map.len)
		return 0;
	if (r->file_map.data[file]) {
		*out = r->file_map.data[file] - 1;
		return 0;
	}
	src = dwarf_filesrc(r->unit_files, file, NULL, NULL);
	if (!src || !*src || src[strlen(src) - 1] == '/' || !strcmp(src, "???"))
		return 0;
	rc = read_path(r, src, out);
	if (!rc && *out != SYM_LINE_NONE)
		r->file_map.data[file] = *out + 1;
	return rc;
}

bool sym_lines_wanted(const struct sym_lines_reader *r)
{
	for (size_t i = 0; i < r->ranges.len; i++)
		if (sym_wants_any(&r->wants, r->ranges.data[i].lo, r->ranges.data[i].hi))
			return true;
	return false;
}

/* The @i-th section of the image; false if it holds no code. */
static bool code_section(const struct sym_elf *e, size_t i, struct sym_dwarf_range *out)
{
	const GElf_Shdr *sh = &e->sh[i];

	out->lo = e->type == ET_REL ? sh->sh_offset : sh->sh_addr;
	out->hi = out->lo + sh->sh_size;
	return sh->sh_flags & SHF_EXECINSTR && out->lo < out->hi;
}

/* The code of the image; without section headers all but address 0. */
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

/* Functions that the linker left out keep their ranges, at address 0 or thereabouts. */
static void drop_what_is_no_code(struct sym_lines_reader *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->ranges.len; i++)
		if (is_code(r, r->ranges.data[i].lo))
			r->ranges.data[kept++] = r->ranges.data[i];
	r->ranges.len = kept;
}

/* The unit's code into r->ranges, that of the image if it does not tell. */
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
 * A function that the linker left out has lines from address 0 on.  If it is so long that
 * they reach into the code nobody can tell whose they are, since libdw sorts the lines of
 * all functions.  Returns where that ends; 0: as a rule.
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

/* Of several lines for one address the last counts, as addr2line has it. */
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

int sym_lines_unit(struct sym_lines_reader *r, unsigned type, Dwarf_Die *cu)
{
	int rc, inlines = 0;

	if ((type != DW_UT_compile && type != DW_UT_skeleton) ||
	    dwarf_tag(cu) == DW_TAG_partial_unit || !dwarf_hasattr(cu, DW_AT_stmt_list))
		return 0;
	rc = find_code(r, cu);
	if (rc || !sym_lines_wanted(r))
		return rc;
	rc = begin_files(r, cu);
	if (rc)
		return rc;
	rc = read_lines(r, cu);
	if (r->with_inlines && type == DW_UT_compile && (!rc || rc == -EBADMSG))
		inlines = sym_inlines_read(r, cu);
	return rc ? rc : inlines;
}
