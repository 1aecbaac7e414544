/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/code/disasm.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/code/nearest.h"
#include "libsym/code/opcodes.h"
#include "libsym/elf/load.h"
#include "libsym/wire/disasm_wire.h"
#include "libsym/wire/wire.h"

#define MAX_SECTIONS 64 /* that one range goes through */
#define MAX_INSN 16u /* bytes that the last instruction of a range may need behind it */

struct run { /* one job */
	struct sym_load load;
	struct sym_nearest names;
	struct sym_opcodes *opcodes; /* NULL: bytes only */
	struct sym_insns insns;
	VEC(struct sym_disasm_code) codes;
	struct strbuf bytes;
	enum sym_state state;
	struct strbuf reason;
};

static void run_fini(struct run *r)
{
	sym_opcodes_free(r->opcodes);
	sym_nearest_fini(&r->names);
	sym_load_fini(&r->load);
	vec_fini(&r->insns.list);
	strbuf_fini(&r->insns.texts);
	vec_fini(&r->codes);
	strbuf_fini(&r->bytes);
	strbuf_fini(&r->reason);
}

static void say(struct run *r, enum sym_state state, const char *why)
{
	r->state = state;
	strbuf_reset(&r->reason);
	strbuf_printf(&r->reason, "%s: %s", strbuf_str(&r->load.b.path), why);
}

struct home { /* the part of the image that holds an offset */
	uint64_t off, size, vma;
	size_t section;
};

static bool holds(struct home *h, uint64_t at)
{
	uint64_t end;

	return at >= h->off && at - h->off < h->size &&
	       !__builtin_add_overflow(h->vma, h->size, &end) &&
	       !__builtin_add_overflow(h->off, h->size, &end);
}

/* A section, or a segment where no section has it; code is preferred. */
static bool find_home(const struct sym_elf *e, uint64_t at, struct home *out)
{
	struct home h;
	bool found = false;

	for (size_t i = 1; i < e->nr_sh; i++) {
		const GElf_Shdr *sh = &e->sh[i];

		h = (struct home){ sh->sh_offset, sh->sh_size, sh->sh_addr, i };
		if (sh->sh_type == SHT_NOBITS || !holds(&h, at))
			continue;
		*out = h;
		found = true;
		if (sh->sh_flags & SHF_EXECINSTR)
			return true;
	}
	for (size_t i = 0; i < e->nr_loads && !found; i++) {
		const struct sym_section *l = &e->loads[i];

		h = (struct home){ l->off, l->size, l->vma, 0 };
		found = holds(&h, at);
		*out = h;
	}
	return found;
}

static uint64_t home_end(const struct home *h)
{
	return h->off + h->size;
}

/*
 * The next code section behind @at that begins before @end, if its offsets and addresses
 * are as far apart as those of @h, which it replaces: in that case the code of one
 * segment goes on there.
 */
static bool next_home(const struct sym_elf *e, uint64_t at, uint64_t end, struct home *h)
{
	struct home best = { .off = end };

	for (size_t i = 1; i < e->nr_sh; i++) {
		const GElf_Shdr *sh = &e->sh[i];
		struct home n = { sh->sh_offset, sh->sh_size, sh->sh_addr, i };

		if (sh->sh_type != SHT_NOBITS && (sh->sh_flags & SHF_EXECINSTR) &&
		    n.off >= at && n.off < best.off && holds(&n, n.off) &&
		    n.vma - n.off == h->vma - h->off)
			best = n;
	}
	if (!best.size)
		return false;
	*h = best;
	return true;
}

/*
 * The bytes of a range, with those that its last instruction may need; @last: where the
 * range ends.
 */
static const uint8_t *read_bytes(struct run *r, const struct home *last,
				 const struct sym_disasm_code *c, size_t *avail)
{
	uint64_t size = c->end - c->off, left = home_end(last) - c->off;
	uint64_t want = size + MAX_INSN < left ? size + MAX_INSN : left;
	Elf_Data *d;

	if (c->off > INT64_MAX)
		return NULL;
	d = elf_getdata_rawchunk(r->load.image.elf, (int64_t)c->off, want, ELF_T_BYTE);
	if (!d || !d->d_buf || d->d_size < size)
		return NULL;
	*avail = d->d_size;
	return d->d_buf;
}

static int run_home(struct run *r, const struct sym_disasm_code *c, const struct home *h,
		    const uint8_t *bytes, size_t avail)
{
	uint64_t off = c->off > h->off ? c->off : h->off;
	uint64_t end = c->end < home_end(h) ? c->end : home_end(h);
	uint64_t left = c->off + avail < home_end(h) ? c->off + avail : home_end(h);
	struct sym_piece piece = {
		.bytes = bytes + (off - c->off),
		.avail = (size_t)(left - off),
		.size = (size_t)(end - off),
		.vma = h->vma + (off - h->off),
		.section = h->section,
		.lo = h->vma,
		.hi = h->vma + h->size,
	};

	size_t i = r->insns.list.len;
	int rc = sym_opcodes_run(r->opcodes, &piece, &r->insns);

	for (; i < r->insns.list.len; i++)
		r->insns.list.data[i].at += (uint32_t)(off - c->off);
	return rc;
}

/*
 * A range that leaves its section goes on in the next ones; there is no code between
 * them.
 */
static int run_code(struct run *r, struct sym_disasm_code *c, struct home h,
		    const uint8_t *bytes, size_t avail)
{
	size_t before = r->insns.list.len;
	int rc = 0;

	if (!r->opcodes)
		return 0;
	do {
		rc = run_home(r, c, &h, bytes, avail);
	} while (!rc && next_home(&r->load.image, home_end(&h), c->end, &h));
	c->nr_insns = (uint32_t)(r->insns.list.len - before);
	return rc;
}

static int add_range(struct run *r, const struct sym_range *range)
{
	struct sym_disasm_code c = { .off = range->off, .end = range->end };
	const uint8_t *bytes = NULL;
	size_t avail = 0;
	struct home h, last;
	int rc = 0, more = MAX_SECTIONS;

	if (c.end < c.off)
		c.end = c.off;
	if (c.end > c.off && find_home(&r->load.image, c.off, &h)) {
		last = h;
		while (--more && next_home(&r->load.image, home_end(&last), c.end, &last))
			;
		if (c.end > home_end(&last))
			c.end = home_end(&last);
		c.vma = h.vma + (c.off - h.off);
		bytes = read_bytes(r, &last, &c, &avail);
	}
	if (bytes) {
		c.has_bytes = 1;
		strbuf_add(&r->bytes, bytes, (size_t)(c.end - c.off));
		rc = run_code(r, &c, h, bytes, avail);
	} else {
		c.vma = 0; /* so that no sum with it overflows */
	}
	return rc ? rc : vec_push(&r->codes, c);
}

/* A request for too much is refused before anything is read. */
static int check_ranges(const struct sym_range *ranges, size_t nr, struct err *err)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < nr && sum <= SYM_DISASM_MAX_BYTES; i++)
		if (ranges[i].end > ranges[i].off &&
		    __builtin_add_overflow(sum, ranges[i].end - ranges[i].off, &sum))
			sum = UINT64_MAX;
	if (nr > SYM_DISASM_MAX_RANGES || sum > SYM_DISASM_MAX_BYTES)
		return err_set(err, -EFBIG, "too much code for one job");
	return 0;
}

static int set_up(struct run *r, const char *options, struct err *err)
{
	struct err why = { 0 };
	int rc;

	if (!sym_usable(r->state) || !options)
		return 0;
	rc = sym_nearest_make(&r->names, &r->load);
	if (rc)
		return err_errno(err, rc, "code of %s", strbuf_str(&r->load.b.path));
	rc = sym_opcodes_new(&r->load.image, &r->names, options, &r->opcodes, &why);
	if (rc == -ENOTSUP) { /* the bytes are given all the same */
		say(r, SYM_NO_SYMBOLS, why.msg);
		return 0;
	}
	return rc ? err_set(err, rc, "%s", why.msg) : 0;
}

static int write_out(struct run *r, struct strbuf *out)
{
	struct sym_disasm_header h = {
		.magic = SYM_DISASM_MAGIC,
		.version = SYM_WIRE_VERSION,
		.state = r->state,
		.nr_codes = (uint32_t)r->codes.len,
		.nr_insns = (uint32_t)r->insns.list.len,
		.bytes_len = r->bytes.len,
		.reason = (uint32_t)r->insns.texts.len,
	};
	size_t before = out->len;

	strbuf_add(&r->insns.texts, strbuf_str(&r->reason), r->reason.len + 1);
	h.text_len = (uint32_t)r->insns.texts.len;
	strbuf_add(out, &h, sizeof(h));
	strbuf_add(out, r->codes.data, r->codes.len * sizeof(*r->codes.data));
	strbuf_add(out, r->insns.list.data,
		   r->insns.list.len * sizeof(*r->insns.list.data));
	strbuf_add(out, strbuf_str(&r->bytes), r->bytes.len);
	strbuf_add(out, r->insns.texts.data, r->insns.texts.len);
	if (r->reason.failed || r->bytes.failed || r->insns.texts.failed || out->failed)
		return -ENOMEM;
	return out->len - before > SYM_WIRE_MAX ? -EFBIG : 0;
}

/* @r->load has been opened. */
static int encode(struct run *r, const struct sym_range *ranges, size_t nr,
		  const char *options, struct strbuf *out, struct err *err)
{
	int rc = check_ranges(ranges, nr, err);

	r->state = r->load.b.state;
	if (rc)
		return rc;
	if (!sym_usable(r->state)) {
		strbuf_puts(&r->reason, strbuf_str(&r->load.b.reason));
	} else if (r->load.kallsyms) {
		say(r, SYM_MISSING, "has names, but no code: a vmlinux file has");
	} else {
		r->state = SYM_OK;
		rc = set_up(r, options, err);
		for (size_t i = 0; i < nr && !rc; i++)
			rc = add_range(r, &ranges[i]);
	}
	if (!rc)
		rc = write_out(r, out);
	return rc && rc != -EINVAL
		       ? err_errno(err, rc, "code of %s", strbuf_str(&r->load.b.path))
		       : rc;
}

int sym_disasm_encode(const struct sym_job *job, const struct sym_range *ranges,
		      size_t nr, const char *options, struct strbuf *out, struct err *err)
{
	CLEANUP(run_fini) struct run r = { .load = SYM_LOAD_INIT(job) };
	int rc = sym_load_open(&r.load);

	if (rc)
		return err_errno(err, rc, "code of %s", strbuf_str(&r.load.b.path));
	return encode(&r, ranges, nr, options, out, err);
}

int sym_disasm_encode_fd(int fd, const struct sym_job *job,
			 const struct sym_range *ranges, size_t nr, const char *options,
			 struct strbuf *out, struct err *err)
{
	CLEANUP(run_fini) struct run r = { .load = SYM_LOAD_INIT(job) };
	int rc;

	rc = sym_load_job_fd(&r.load, fd);
	if (rc)
		return err_errno(err, rc, "code of %s", strbuf_str(&r.load.b.path));
	return encode(&r, ranges, nr, options, out, err);
}
