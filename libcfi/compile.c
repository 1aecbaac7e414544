/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/compile.h"

#include <errno.h>

#include "base/cleanup.h"
#include "libcfi/elf.h"
#include "libcfi/pointer.h"
#include "libcfi/program.h"
#include "libcfi/reader.h"
#include "libcfi/rows.h"
#include "libcfi/trampoline.h"
#include "libcfi/undescribed.h"

enum {
	MAX_COMMON = 1024, /* bytes of a common part; linkers' have some 20 */
	MAX_LETTERS = 8,   /* "zPLRSBG" has them all */
	/*
	 * Common parts are read again where functions of two take turns, and their
	 * instructions are run for every function: so many times the bytes of the section
	 * in all.  In real files it is one time, or two.
	 */
	MAX_TIMES = 16,
};

/* A section, as far as it has been read. */
struct section {
	struct cfi_section in;
	bool debug;                /* .debug_frame: other marks, and no encodings */
	const struct cfi_elf *elf; /* NULL: keys are addresses */
	enum cfi_machine machine;
	struct cfi_rows *rows;
	/* the common part read last, which most functions share */
	uint64_t common_at; /* its offset; UINT64_MAX: none yet */
	struct cfi_common common;
	bool augmented, common_is_bad;
	uint64_t work; /* bytes of common parts that were read, and run */
};

/* An entry of the section: a common part, or a function. */
struct entry {
	uint64_t at; /* its offset */
	struct cfi_reader body;
	uint64_t id_at; /* offset of the id, which says which it is, */
	uint64_t id;
};

static uint64_t offset_of(const struct section *s, const uint8_t *at)
{
	return (uint64_t)(at - (const uint8_t *)s->in.bytes);
}

/* The next entry at @r.  False: there is none. */
static bool next_entry(const struct section *s, struct cfi_reader *r, struct entry *e)
{
	size_t id_size = 4;
	uint64_t size;
	const uint8_t *body;

	e->at = offset_of(s, r->at);
	size = cfi_fixed(r, 4);
	if (size == UINT32_MAX) {
		size = cfi_fixed(r, 8);
		id_size = s->debug ? 8 : 4;
	}
	/* .eh_frame ends in a length of 0; without sections what follows is not its */
	if (!size || r->bad)
		return false;
	body = cfi_bytes(r, size);
	if (!body)
		return false;
	e->id_at = offset_of(s, body);
	e->body = cfi_reader_init(body, size);
	e->id = cfi_fixed(&e->body, id_size);
	if (s->debug && id_size == 4 && e->id == UINT32_MAX)
		e->id = UINT64_MAX;
	return true;
}

static bool is_common(const struct section *s, const struct entry *e)
{
	return s->debug ? e->id == UINT64_MAX : !e->id;
}

/* What the letters of an augmentation say.  False: nobody knows them. */
static bool take_augmentation(struct section *s, const char *letters,
			      struct cfi_reader *r)
{
	uint64_t skipped;
	uint8_t how;

	if (*letters != 'z')
		return !*letters;
	s->augmented = true;
	cfi_uleb(r); /* how long what follows is */
	while (*++letters) {
		switch (*letters) {
		case 'R':
			s->common.pointers = cfi_u8(r);
			break;
		case 'P':
			how = cfi_u8(r);
			if (how != CFI_POINTER_OMIT &&
			    !cfi_pointer(r, how & 0x0f, NULL, &skipped))
				return false;
			break;
		case 'L':
			cfi_u8(r);
			break;
		case 'S':
			s->common.signal = true;
			break;
		case 'B': /* arm64: signed with the other key */
		case 'G': /* arm64: tagged stacks */
			break;
		default:
			return false;
		}
	}
	return !r->bad;
}

static const char *take_letters(struct cfi_reader *r)
{
	size_t left = cfi_left(r), most = MAX_LETTERS + 1;
	const uint8_t *end = memchr(r->at, 0, left < most ? left : most);

	return end ? (const char *)cfi_bytes(r, (uint64_t)(end + 1 - r->at)) : NULL;
}

static bool read_common(struct section *s, const struct entry *e)
{
	struct cfi_reader r = e->body;
	uint8_t version = cfi_u8(&r);
	const char *letters = take_letters(&r);
	struct cfi_reader augmentation;
	uint64_t size = 0;

	s->common = (struct cfi_common){ .machine = s->machine, .section = &s->in };
	s->augmented = false;
	if (!letters || (version != 1 && version != 3 && version != 4))
		return false;
	/* sizes of an address and of a segment's number: no other machine is known */
	if (version == 4 && (cfi_u8(&r) != 8 || cfi_u8(&r) != 0))
		return false;
	s->common.code_align = cfi_uleb(&r);
	s->common.data_align = cfi_sleb(&r);
	s->common.ra = version == 1 ? cfi_u8(&r) : cfi_uleb(&r);
	augmentation = r;
	if (!take_augmentation(s, letters, &augmentation))
		return false;
	if (s->augmented) {
		size = cfi_uleb(&r);
		cfi_bytes(&r, size);
	}
	s->common.initial = r;
	return !r.bad;
}

static bool try_common(struct section *s, struct cfi_reader r)
{
	struct entry e;

	if (!next_entry(s, &r, &e) || !is_common(s, &e) || cfi_left(&e.body) > MAX_COMMON)
		return false;
	s->work += cfi_left(&e.body);
	return read_common(s, &e);
}

/* The common part at an offset. */
static bool need_common(struct section *s, uint64_t at)
{
	const uint8_t *bytes = s->in.bytes;

	if (at != s->common_at) {
		s->common_at = at;
		s->common_is_bad =
			at >= s->in.size ||
			!try_common(s, cfi_reader_init(bytes + at, s->in.size - at));
	}
	return !s->common_is_bad;
}

/* Where a function's code is in the table.  False: nowhere. */
static bool place_of(const struct section *s, uint64_t start, uint64_t size,
		     struct cfi_place *out)
{
	uint64_t key = start, room = UINT32_MAX;

	if (s->elf && !cfi_elf_offset(s->elf, start, &key, &room))
		return false;
	if (!size || size > room || key > UINT32_MAX || size > UINT32_MAX - key)
		return false;
	*out = (struct cfi_place){ start, size, (uint32_t)key };
	return true;
}

static int read_function(struct section *s, const struct entry *e)
{
	struct cfi_reader r = e->body;
	struct cfi_place place;
	uint64_t start, size;

	/* in .eh_frame it is a distance back from where it stands */
	if ((!s->debug && e->id > e->id_at) ||
	    !need_common(s, s->debug ? e->id : e->id_at - e->id))
		return 0;
	if (!cfi_pointer(&r, s->common.pointers, &s->in, &start) ||
	    !cfi_pointer(&r, s->common.pointers & 0x0f, &s->in, &size))
		return 0;
	if (s->augmented)
		cfi_bytes(&r, cfi_uleb(&r));
	if (r.bad || !place_of(s, start, size, &place))
		return 0;
	s->work += cfi_left(&s->common.initial);
	return cfi_program_run(s->rows, &s->common, &place, r);
}

static int read_section(struct section *s)
{
	struct cfi_reader r = cfi_reader_init(s->in.bytes, s->in.size);
	struct entry e;
	int rc = 0;

	s->common_at = UINT64_MAX;
	while (!rc && cfi_left(&r) && next_entry(s, &r, &e)) {
		if (!is_common(s, &e))
			rc = read_function(s, &e);
		if (s->work / MAX_TIMES > s->in.size)
			return -E2BIG;
	}
	return rc;
}

/* Sections are read in this order: the first that describes a function has it. */
struct input {
	enum cfi_machine machine;
	struct cfi_section eh_frame, debug_frame;
	const struct cfi_elf *elf; /* NULL: keys are addresses */
};

static int read_all(const struct input *in, struct cfi_rows *rows)
{
	const struct cfi_section *const sections[] = { &in->eh_frame, &in->debug_frame };
	int rc = cfi_rows_init(rows);

	for (int i = 0; !rc && i < 2; i++) {
		struct section s = { .in = *sections[i],
				     .debug = i,
				     .elf = in->elf,
				     .machine = in->machine,
				     .rows = rows };

		if (s.in.bytes && in->machine)
			rc = read_section(&s);
	}
	return rc || !in->elf ? rc : cfi_add_undescribed(in->elf, rows);
}

static int compile(const struct input *in, struct strbuf *out, struct err *err)
{
	CLEANUP(cfi_rows_fini) struct cfi_rows rows;
	int rc = read_all(in, &rows);

	if (!rc)
		rc = cfi_rows_write(&rows, in->machine ? in->machine : CFI_X86_64, out);
	return rc ? err_errno(err, rc, "unwind table") : 0;
}

int cfi_compile_file(int fd, struct strbuf *out, struct err *err)
{
	CLEANUP(cfi_elf_fini) struct cfi_elf elf;
	struct input in = { .elf = &elf };
	int rc = cfi_elf_read(&elf, fd, err);

	if (rc)
		return rc;
	in.machine = elf.machine;
	in.eh_frame = elf.eh_frame;
	in.debug_frame = elf.debug_frame;
	return compile(&in, out, err);
}

int cfi_compile_frames(enum cfi_machine machine, const void *frames, size_t size,
		       uint64_t vma, struct strbuf *out, struct err *err)
{
	const struct input in = { .machine = machine, .eh_frame = { frames, size, vma } };

	return compile(&in, out, err);
}

static int add_made(enum cfi_machine machine, const struct cfi_made *m,
		    struct cfi_rows *rows)
{
	struct section s = { .machine = machine, .rows = rows };

	if (m->start > UINT32_MAX)
		return 0;
	if (!m->frames)
		return cfi_add_trampoline(rows, (uint32_t)m->start, m->size);
	s.in = (struct cfi_section){ m->frames, m->frames_size,
				     m->start + ((m->size + 7) & ~UINT64_C(7)) };
	return read_section(&s);
}

/* More trampolines are made behind those that are known. */
static int add_more_trampolines(const struct cfi_made *made, size_t nr, uint64_t size,
				struct cfi_rows *rows)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < nr; i++) {
		if (made[i].frames || made[i].start > UINT32_MAX)
			continue;
		if (made[i].start < first)
			first = made[i].start;
		if (made[i].start > last)
			last = made[i].start;
	}
	if (first == UINT64_MAX)
		return 0;
	if (size > last + CFI_TRAMPOLINES_BYTES)
		size = last + CFI_TRAMPOLINES_BYTES;
	return cfi_fill_with_trampolines(rows, (uint32_t)first,
					 size < UINT32_MAX ? (uint32_t)size : UINT32_MAX);
}

int cfi_compile_made(enum cfi_machine machine, const struct cfi_made *made, size_t nr,
		     uint64_t size, struct strbuf *out, struct err *err)
{
	CLEANUP(cfi_rows_fini) struct cfi_rows rows;
	int rc = cfi_rows_init(&rows);

	for (size_t i = 0; !rc && i < nr; i++)
		rc = add_made(machine, &made[i], &rows);
	if (!rc)
		rc = add_more_trampolines(made, nr, size, &rows);
	if (!rc)
		rc = cfi_rows_write(&rows, machine, out);
	return rc ? err_errno(err, rc, "unwind table") : 0;
}
