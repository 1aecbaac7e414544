/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/table/index.h"
#include "libsym/wire/image.h"

/* Appends a text to @names and returns where it starts. */
static uint32_t add_name(struct strbuf *names, const char *text)
{
	size_t at = names->len;

	strbuf_add(names, text, strlen(text) + 1);
	if (names->len > SYM_WIRE_MAX)
		names->failed = true;
	return (uint32_t)at;
}

static struct sym_wire_header make_header(const struct sym_build *b, struct strbuf *names)
{
	struct sym_wire_header h = {
		.magic = SYM_WIRE_MAGIC,
		.version = SYM_WIRE_VERSION,
		.state = b->state,
		.source = b->source,
		.nr_syms = (uint32_t)b->syms.len,
		.nr_sections = (uint32_t)b->sections.len,
		.nr_entries = (uint32_t)b->entries.len,
		.text_off = b->text_off,
		.dev = b->dev,
		.ino = b->ino,
		.file_size = b->file_size,
		.mtime = b->mtime,
		.id_len = b->build_id.len < SYM_WIRE_ID ? b->build_id.len : SYM_WIRE_ID,
	};

	memcpy(h.id, b->build_id.bytes, sizeof(h.id));
	h.reason = add_name(names, strbuf_str(&b->reason));
	h.path = add_name(names, strbuf_str(&b->path));
	h.debug_path = add_name(names, strbuf_str(&b->debug_path));
	return h;
}

int sym_wire_encode(const struct sym_build *b, struct strbuf *out)
{
	CLEANUP(strbuf_fini) struct strbuf names = { 0 };
	struct sym_wire_header h = make_header(b, &names);
	size_t start = out->len;

	strbuf_add(out, &h, sizeof(h));
	for (size_t i = 0; i < b->syms.len; i++) {
		const struct sym_chosen *s = &b->syms.data[i];
		struct sym_wire_sym w = {
			.off = s->off,
			.size = s->size,
			.vma = s->vma,
			.name = add_name(&names, s->name),
			.flags = s->flags,
		};

		strbuf_add(out, &w, sizeof(w));
	}
	strbuf_add(out, b->sections.data, b->sections.len * sizeof(*b->sections.data));
	strbuf_add(out, b->entries.data, b->entries.len * sizeof(*b->entries.data));
	if (strbuf_error(&names))
		return names.len > SYM_WIRE_MAX ? -EFBIG : -ENOMEM;
	h.names_len = (uint32_t)names.len;
	strbuf_add(out, names.data, names.len);
	if (strbuf_error(out))
		return -ENOMEM;
	memcpy(out->data + start, &h, sizeof(h));
	return out->len - start > SYM_WIRE_MAX ? -EFBIG : 0;
}

struct parts { /* where things are in the bytes that came, and in the table's block */
	const struct sym_wire_header *h;
	const struct sym_wire_sym *syms;
	const struct sym_section *sections, *entries;
	const char *names;
	struct sym_image_parts to;
};

static int bad(struct err *err, const char *what)
{
	err_set(err, -EBADMSG, "answer of the symbol helper: %s", what);
	return -EBADMSG;
}

static int find_parts(struct parts *p, const void *data, size_t len, struct err *err)
{
	const struct sym_wire_header *h = data;
	uint64_t want;

	if (len < sizeof(*h) || len > SYM_WIRE_MAX)
		return bad(err, "bad length");
	if (h->magic != SYM_WIRE_MAGIC || h->version != SYM_WIRE_VERSION)
		return bad(err, "not a symbol table");
	want = sizeof(*h) + (uint64_t)h->nr_syms * sizeof(*p->syms) +
	       ((uint64_t)h->nr_sections + h->nr_entries) * sizeof(*p->sections) +
	       h->names_len;
	if (want != len || h->nr_syms > SYM_MAX_SYMS)
		return bad(err, "lengths disagree");
	p->h = h;
	p->syms = (const struct sym_wire_sym *)(h + 1);
	p->sections = (const struct sym_section *)(p->syms + h->nr_syms);
	p->entries = p->sections + h->nr_sections;
	p->names = (const char *)(p->entries + h->nr_entries);
	if (!h->names_len || p->names[h->names_len - 1])
		return bad(err, "names without an end");
	if (h->reason >= h->names_len || h->path >= h->names_len ||
	    h->debug_path >= h->names_len)
		return bad(err, "text outside the names");
	if (h->state >= SYM_NR_STATES || h->source >= SYM_NR_SOURCES || h->id_len > 32)
		return bad(err, "unknown state");
	return 0;
}

static int take_syms(struct parts *p, struct err *err)
{
	uint64_t end;

	for (uint32_t i = 0; i < p->h->nr_syms; i++) {
		const struct sym_wire_sym *w = &p->syms[i];

		if (i && w->off <= w[-1].off)
			return bad(err, "symbols out of order");
		if (!w->size || __builtin_add_overflow(w->off, w->size, &end))
			return bad(err, "symbol with a bad size");
		if (w->name >= p->h->names_len || !p->names[w->name])
			return bad(err, "symbol without a name");
		p->to.syms[i] = (struct sym){
			.off = w->off, .size = w->size, .vma = w->vma, .flags = w->flags
		};
		sym_set_name(&p->to.syms[i], p->to.names + w->name);
	}
	return 0;
}

static int take_sections(const struct sym_section *from, uint32_t nr,
			 struct sym_section *to, struct err *err)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < nr; i++) {
		const struct sym_section *s = &from[i];

		if (i && s->off < end)
			return bad(err, "sections overlap");
		if (!s->size || __builtin_add_overflow(s->off, s->size, &end))
			return bad(err, "section with a bad size");
		to[i] = *s;
	}
	return 0;
}

#define EACH_BYTE(c) ((c) * (UINT64_MAX / 255))

/* Has one of eight bytes to be replaced?  May say yes where none has. */
static bool may_be_unplain(const char *eight)
{
	uint64_t w, zero, del;

	memcpy(&w, eight, sizeof(w));
	/* 0x80 in each byte that is NUL, and these are taken for blanks */
	zero = ~(((w & EACH_BYTE(0x7full)) + EACH_BYTE(0x7full)) | w |
		 EACH_BYTE(0x7full));
	w |= zero >> 2;
	del = w ^ EACH_BYTE(0x7full);
	return (((w - EACH_BYTE(0x20ull)) & ~w) | ((del - EACH_BYTE(1ull)) & ~del)) &
	       EACH_BYTE(0x80ull);
}

static void take_names(struct parts *p)
{
	uint32_t len = p->h->names_len, step = sizeof(uint64_t);
	char *to = p->to.names;

	memcpy(to, p->names, len);
	for (uint32_t i = 0, end; i < len; i = end) {
		end = len - i < step ? len : i + step;
		if (end - i == step && !may_be_unplain(to + i))
			continue;
		for (uint32_t at = i; at < end; at++)
			to[at] = sym_wire_plain(to[at]);
	}
}

static void release(void *image, size_t len)
{
	(void)len;
	free(image);
}

/* Adds the index to a block that has all else, and room. */
static int add_index(struct sym_image **image)
{
	struct sym_image_parts p = sym_image_parts(*image);
	void *cut;

	(*image)->index_len = sym_index_make(p.syms, (*image)->h.nr_syms, p.index);
	if (!(*image)->index_len)
		return -ENOMEM;
	cut = realloc(*image, p.len + (*image)->index_len);
	if (!cut)
		return -ENOMEM;
	*image = cut;
	return 0;
}

static int take_all(struct parts *p, struct err *err)
{
	int rc = take_syms(p, err);

	if (!rc)
		rc = take_sections(p->sections, p->h->nr_sections, p->to.sections, err);
	if (!rc)
		rc = take_sections(p->entries, p->h->nr_entries, p->to.entries, err);
	if (!rc)
		take_names(p);
	return rc;
}

int sym_wire_decode(const void *data, size_t len, struct sym_table **out, struct err *err)
{
	CLEANUP(free_ptr) struct sym_image *image = NULL;
	struct parts p = { 0 };
	struct sym_image head = { 0 };
	int rc = find_parts(&p, data, len, err);

	if (rc)
		return rc;
	head.h = *p.h;
	/* zeros, so that what is between the parts is the same each time */
	image = calloc(1, sym_image_parts(&head).len + sym_index_room(head.h.nr_syms));
	if (!image)
		return err_set(err, -ENOMEM, "symbol table: out of memory");
	*image = head;
	p.to = sym_image_parts(image);
	rc = take_all(&p, err);
	if (rc)
		return rc;
	if (add_index(&image))
		return err_set(err, -ENOMEM, "symbol table: out of memory");
	rc = sym_image_table(image, sym_image_parts(image).len, release, out, err);
	if (!rc)
		image = NULL;
	return rc;
}
