/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/lines_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/altfile.h"
#include "libsym/lines_reader.h"
#include "libsym/lines_rows.h"
#include "libsym/lines_unit.h"

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

int sym_lines_text(struct sym_lines_reader *r, const char *text, uint32_t *out)
{
	size_t len = strlen(text);
	uint64_t at;

	if (map_get(&r->texts, text, len, &at)) {
		*out = (uint32_t)at;
		return 0;
	}
	*out = (uint32_t)r->b.names.len;
	strbuf_add(&r->b.names, text, len + 1);
	if (strbuf_error(&r->b.names) || r->b.names.len > UINT32_MAX)
		return -ENOMEM;
	return map_set(&r->texts, text, len, *out);
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
		rc = sym_lines_unit(r, type, &die);
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

/* What is missing although it should be there, the worst first. */
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

/* The file with DWARF: the image or its debug file.  NULL and the state if none. */
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

/* @l: was opened. */
static int encode(struct sym_load *l, const struct sym_range *ranges, size_t nr,
		  unsigned flags, struct strbuf *out, struct err *err)
{
	CLEANUP(reader_fini) struct sym_lines_reader r = { .load = l, .alt_fd = -1 };
	int rc = 0;

	r.with_inlines = flags & SYM_LINES_INLINES;
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

	return rc ? rc : sym_lines_decode(blob.data, blob.len, out, err);
}

int sym_lines_load_fd(int fd, const struct sym_job *job, const struct sym_range *ranges,
		      size_t nr, unsigned flags, struct sym_lines **out, struct err *err)
{
	CLEANUP(sym_load_fini) struct sym_load l = SYM_LOAD_INIT(job);
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	int rc;

	rc = sym_load_job_fd(&l, fd);
	if (!rc)
		rc = encode(&l, ranges, nr, flags, &blob, err);
	return rc ? rc : sym_lines_decode(blob.data, blob.len, out, err);
}
