/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/helper/image.h"

#include <errno.h>

#include "base/cleanup.h"
#include "libsym/dwarf/entries.h"
#include "libsym/elf/kallsyms.h"
#include "libsym/elf/load.h"
#include "libsym/elf/minidebug.h"
#include "libsym/elf/plt.h"
#include "libsym/wire/wire.h"

static bool add_from(struct sym_load *l, const struct sym_elf *from, uint32_t table,
		     enum sym_source source)
{
	if (!sym_elf_add_symbols(&l->image, from, table, &l->b))
		return false;
	l->b.source = source;
	return true;
}

static bool add_from_debugfile(struct sym_load *l)
{
	if (!sym_load_debugfile(l) ||
	    !add_from(l, &l->debug.elf, SHT_SYMTAB, SYM_FROM_DEBUGFILE))
		return false;
	strbuf_puts(&l->b.debug_path, strbuf_str(&l->debug.path));
	return true;
}

/* Adds the best symbol table there is, and names for the PLT.  Where that leaves out
 * functions of its own, entries tell them apart. */
static void add_elf_symbols(struct sym_load *l)
{
	sym_elf_add_sections(&l->image, &l->b);
	if (!add_from(l, &l->image, SHT_SYMTAB, SYM_FROM_SYMTAB) &&
	    !add_from_debugfile(l)) {
		add_from(l, &l->image, SHT_DYNSYM, SYM_FROM_DYNSYM);
		if (!sym_minidebug_open(&l->image, &l->mini))
			add_from(l, &l->mini, SHT_SYMTAB, SYM_FROM_MINIDEBUG);
		if (l->job->kind == SYM_USER)
			sym_entries_add(&l->image, &l->b);
	}
	sym_plt_add(&l->image, &l->b);
}

static void add_symbols(struct sym_load *l)
{
	struct sym_places places = sym_load_places(l->job);

	if (!sym_usable(l->b.state))
		return;
	if (!l->kallsyms)
		add_elf_symbols(l);
	else if (l->job->kind == SYM_KALLSYMS)
		sym_kallsyms_kernel(places.kallsyms, &l->b);
	else
		sym_kallsyms_module(places.kallsyms, places.modules,
				    l->job->name ? l->job->name : "", &l->b);
}

static int encode(struct sym_load *l, struct strbuf *out, struct err *err)
{
	int rc;

	add_symbols(l);
	rc = sym_build_finish(&l->b);
	if (!rc)
		rc = sym_wire_encode(&l->b, out);
	return rc ? err_errno(err, rc, "symbols of %s", strbuf_str(&l->b.path)) : 0;
}

int sym_table_encode(const struct sym_job *job, struct strbuf *out, struct err *err)
{
	CLEANUP(sym_load_fini) struct sym_load l = SYM_LOAD_INIT(job);
	int rc = sym_load_open(&l);

	return rc ? err_errno(err, rc, "symbols of %s", strbuf_str(&l.b.path))
		  : encode(&l, out, err);
}

static int decode(const struct strbuf *blob, struct sym_table **out, struct err *err)
{
	return sym_wire_decode(blob->data, blob->len, out, err);
}

int sym_table_load(const struct sym_job *job, struct sym_table **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	int rc = sym_table_encode(job, &blob, err);

	return rc ? rc : decode(&blob, out, err);
}

int sym_table_load_fd(int fd, const struct sym_job *job, struct sym_table **out,
		      struct err *err)
{
	CLEANUP(sym_load_fini) struct sym_load l = SYM_LOAD_INIT(job);
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	int rc;

	rc = sym_load_job_fd(&l, fd);
	if (!rc)
		rc = encode(&l, &blob, err);
	return rc ? rc : decode(&blob, out, err);
}
