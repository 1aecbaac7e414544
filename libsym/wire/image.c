/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsym/table/index.h"

enum { WORD = sizeof(uint64_t) };

struct sym_image_parts sym_image_parts(struct sym_image *x)
{
	struct sym_image_parts p = { .syms = (struct sym *)(x + 1) };
	size_t names = ((size_t)x->h.names_len + WORD - 1) / WORD * WORD;

	p.sections = (struct sym_section *)(p.syms + x->h.nr_syms);
	p.entries = p.sections + x->h.nr_sections;
	p.names = (char *)(p.entries + x->h.nr_entries);
	p.index = (struct sym_index *)(p.names + names);
	p.len = sizeof(*x) + x->h.nr_syms * sizeof(*p.syms) +
		((size_t)x->h.nr_sections + x->h.nr_entries) * sizeof(*p.sections) +
		names + x->index_len;
	return p;
}

static bool is_whole(struct sym_image *x, size_t len)
{
	const struct sym_wire_header *h = &x->h;
	struct sym_image_parts p;

	if (len < sizeof(*x) || x->index_len > len)
		return false;
	p = sym_image_parts(x);
	return p.len == len && h->names_len && !p.names[h->names_len - 1] &&
	       h->reason < h->names_len && h->path < h->names_len &&
	       h->debug_path < h->names_len && h->state < SYM_NR_STATES &&
	       h->source < SYM_NR_SOURCES && h->id_len <= SYM_WIRE_ID &&
	       sym_index_fits(p.index, x->index_len);
}

int sym_image_table(void *image, size_t len, void (*release)(void *image, size_t len),
		    struct sym_table **out, struct err *err)
{
	struct sym_image *x = image;
	const struct sym_wire_header *h = &x->h;
	struct sym_image_parts p;
	struct sym_table *t;

	if (!is_whole(x, len))
		return err_set(err, -EBADMSG, "symbol table: lengths disagree");
	p = sym_image_parts(x);
	t = malloc(sizeof(*t));
	if (!t)
		return err_set(err, -ENOMEM, "symbol table: out of memory");
	*t = (struct sym_table){
		.state = (enum sym_state)h->state,
		.source = (enum sym_source)h->source,
		.reason = p.names + h->reason,
		.path = p.names + h->path,
		.debug_path = p.names + h->debug_path,
		.build_id.len = h->id_len,
		.text_off = h->text_off,
		.dev = h->dev,
		.ino = h->ino,
		.file_size = h->file_size,
		.mtime = h->mtime,
		.syms = p.syms,
		.sections = p.sections,
		.entries = p.entries,
		.nr_syms = h->nr_syms,
		.nr_sections = h->nr_sections,
		.nr_entries = h->nr_entries,
		.bytes = sizeof(*t) + len,
		.index = p.index,
		.image = image,
		.image_len = len,
		.release = release,
		.refs = 1,
	};
	memcpy(t->build_id.bytes, h->id, h->id_len);
	*out = t;
	return 0;
}
