/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/program.h"

#include <dwarf.h>
#include <string.h>

#include "libcfi/pointer.h"

enum {
	MAX_REMEMBERED = 64,
	NO_REG = -1,
};

/* DW_CFA_AARCH64_negate_ra_state_with_pc, which libdw 0.188 does not know. */
#define DW_CFA_SIGNED_WITH_PC 0x2c

#define NO_COLUMN UINT64_MAX

/* DWARF's numbers of the registers that are followed.  Source: the psABIs. */
static const struct columns {
	uint64_t sp, fp, bx;
} columns[] = {
	[CFI_X86_64] = { .sp = 7, .fp = 6, .bx = 3 },
	[CFI_ARM64] = { .sp = 31, .fp = 29, .bx = NO_COLUMN },
};

/* What holds at an address, as far as the instructions have come. */
struct holds {
	uint64_t cfa_reg;
	int64_t cfa_off;
	struct cfi_rule cfa; /* of an expression: kind, base, off, add */
	bool by_expression;
	bool no_caller; /* the return address is undefined */
	struct cfi_saved saved[CFI_NR_REGS];
};

struct run {
	struct cfi_rows *rows;
	const struct cfi_common *common;
	const struct columns *col;
	uint64_t at, end; /* addresses */
	uint64_t to_key;  /* from an address to its key */
	struct holds now, initial;
	struct holds *remembered; /* MAX_REMEMBERED, not set yet */
	size_t nr_remembered;
	bool damaged;
	int rc;
};

/* The register that a base is, or NO_REG. */
static int base_of(const struct run *r, uint64_t column)
{
	return column == r->col->sp                          ? CFI_BY_SP
	       : column == r->col->fp                        ? CFI_BY_FP
	       : column == r->col->bx && column != NO_COLUMN ? CFI_BY_BX
							     : NO_REG;
}

/* The followed register that a column is, or NO_REG. */
static int reg_of(const struct run *r, uint64_t column)
{
	return column == r->col->fp                          ? CFI_FP
	       : column == r->common->ra                     ? CFI_RA
	       : column == r->col->bx && column != NO_COLUMN ? CFI_BX
							     : NO_REG;
}

/* ---- from what holds to a rule */

static bool set_cfa(const struct run *r, struct cfi_rule *out)
{
	const struct holds *h = &r->now;
	int base = h->by_expression ? h->cfa.base : base_of(r, h->cfa_reg);

	if (h->by_expression) {
		out->kind = h->cfa.kind;
		out->off = h->cfa.off;
		out->add = h->cfa.add;
	} else {
		out->kind = CFI_PLAIN;
		out->off = (int32_t)h->cfa_off;
	}
	if (base == NO_REG || out->kind == CFI_DAMAGED ||
	    (!h->by_expression && out->off != h->cfa_off))
		return false;
	out->base = (uint8_t)base;
	return true;
}

static void make_rule(const struct run *r, struct cfi_rule *out)
{
	const struct holds *h = &r->now;

	*out = (struct cfi_rule){ .kind = CFI_DAMAGED };
	if (r->damaged)
		return;
	if (h->no_caller) {
		out->kind = CFI_OUTER;
		return;
	}
	if (r->common->machine == CFI_ARM64 && r->common->signal) {
		/* what vdsos say of theirs leads to the return address, not to the
		 * interrupted one */
		*out = cfi_signal_rules[CFI_ARM64];
		return;
	}
	if (!set_cfa(r, out) || h->saved[CFI_RA].how == CFI_LOST) {
		*out = (struct cfi_rule){ .kind = CFI_DAMAGED };
		return;
	}
	out->signal = r->common->signal;
	memcpy(out->saved, h->saved, sizeof(out->saved));
}

static void emit(struct run *r)
{
	struct cfi_rule rule;

	if (r->rc || r->at >= r->end)
		return;
	make_rule(r, &rule);
	r->rc = cfi_rows_add(r->rows, (uint32_t)(r->at + r->to_key), &rule);
}

static void advance(struct run *r, uint64_t units)
{
	uint64_t by;

	if (!units)
		return;
	emit(r);
	if (__builtin_mul_overflow(units, r->common->code_align, &by) ||
	    by > r->end - r->at)
		r->at = r->end;
	else
		r->at += by;
}

static void set_location(struct run *r, struct cfi_reader *c)
{
	uint64_t to;

	if (!cfi_pointer(c, r->common->pointers, r->common->section, &to) || to < r->at) {
		r->damaged = true;
		return;
	}
	emit(r);
	r->at = to < r->end ? to : r->end;
}

/* ---- instructions */

static void set_saved(struct run *r, uint64_t column, struct cfi_saved saved)
{
	int reg = reg_of(r, column);

	if (reg == CFI_RA)
		r->now.no_caller = false;
	if (reg != NO_REG)
		r->now.saved[reg] = saved;
}

static void set_how(struct run *r, uint64_t column, enum cfi_how how)
{
	set_saved(r, column, (struct cfi_saved){ .how = (uint8_t)how });
}

/* A register is saved at @base + @off. */
static void set_at(struct run *r, uint64_t column, uint8_t base, int64_t off)
{
	const struct cfi_saved saved = { CFI_SAVED, base, (int16_t)off };

	if (saved.off == off)
		set_saved(r, column, saved);
	else
		set_how(r, column, CFI_LOST);
}

static void set_at_cfa(struct run *r, uint64_t column, int64_t factored)
{
	int64_t off;

	if (__builtin_mul_overflow(factored, r->common->data_align, &off))
		set_how(r, column, CFI_LOST);
	else
		set_at(r, column, CFI_BY_CFA, off);
}

static void set_undefined(struct run *r, uint64_t column)
{
	set_how(r, column, CFI_LOST);
	if (reg_of(r, column) == CFI_RA)
		r->now.no_caller = true;
}

static void restore(struct run *r, uint64_t column)
{
	int reg = reg_of(r, column);

	if (reg == NO_REG)
		return;
	r->now.saved[reg] = r->initial.saved[reg];
	if (reg == CFI_RA)
		r->now.no_caller = r->initial.no_caller;
}

/* "register + off", which an expression may begin with.  False: it does not. */
static bool take_register(struct cfi_reader *e, uint64_t *column, int64_t *off)
{
	uint8_t op = cfi_u8(e);

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31)
		*column = op - DW_OP_breg0;
	else if (op == DW_OP_bregx)
		*column = cfi_uleb(e);
	else
		return false;
	*off = cfi_sleb(e);
	return !e->bad;
}

/*
 * What an entry of a PLT is described by: 8 bytes more are on the stack from some
 * instruction of its 16 bytes on.  "sp + off + ((ip & 15 >= LITERAL) << 3)"
 */
static bool is_plt(struct cfi_reader e, int32_t *from)
{
	enum { RIP = DW_OP_breg0 + 16 };
	uint8_t literal;

	if (cfi_u8(&e) != RIP || cfi_sleb(&e) || cfi_u8(&e) != DW_OP_lit15 ||
	    cfi_u8(&e) != DW_OP_and)
		return false;
	literal = cfi_u8(&e);
	*from = literal - DW_OP_lit0;
	return *from >= 0 && *from < 16 && cfi_u8(&e) == DW_OP_ge &&
	       cfi_u8(&e) == DW_OP_lit3 && cfi_u8(&e) == DW_OP_shl &&
	       cfi_u8(&e) == DW_OP_plus && !e.bad && !cfi_left(&e);
}

/* "*(register + off) + add" */
static bool is_deref(struct cfi_reader e, int64_t *add)
{
	*add = 0;
	if (cfi_u8(&e) != DW_OP_deref)
		return false;
	if (cfi_left(&e)) {
		if (cfi_u8(&e) != DW_OP_plus_uconst)
			return false;
		*add = (int64_t)cfi_uleb(&e);
	}
	return !e.bad && !cfi_left(&e) && *add == (int32_t)*add;
}

static void cfa_expression(struct run *r, struct cfi_reader e)
{
	struct cfi_rule *cfa = &r->now.cfa;
	uint64_t column;
	int64_t off, add = 0;
	int base;

	r->now.by_expression = true;
	*cfa = (struct cfi_rule){ .kind = CFI_DAMAGED };
	if (!take_register(&e, &column, &off) || off != (int32_t)off)
		return;
	base = base_of(r, column);
	if (base == NO_REG)
		return;
	cfa->base = (uint8_t)base;
	cfa->off = (int32_t)off;
	if (!cfi_left(&e)) {
		cfa->kind = CFI_PLAIN;
	} else if (is_deref(e, &add)) {
		cfa->kind = CFI_DEREF;
		cfa->add = (int32_t)add;
	} else if (r->common->machine == CFI_X86_64 && is_plt(e, &cfa->add)) {
		cfa->kind = CFI_PLT;
	}
}

/* Where a register is saved: "register + off", or a distance from the CFA. */
static void saved_expression(struct run *r, uint64_t column, struct cfi_reader e)
{
	struct cfi_reader from_cfa = e;
	uint64_t by;
	int64_t off;

	if (take_register(&e, &by, &off) && !cfi_left(&e) && base_of(r, by) != NO_REG) {
		set_at(r, column, (uint8_t)base_of(r, by), off);
	} else if (cfi_u8(&from_cfa) == DW_OP_plus_uconst) {
		off = (int64_t)cfi_uleb(&from_cfa);
		if (!from_cfa.bad && !cfi_left(&from_cfa))
			set_at(r, column, CFI_BY_CFA, off);
		else
			set_how(r, column, CFI_LOST);
	} else {
		set_how(r, column, CFI_LOST);
	}
}

static struct cfi_reader take_block(struct cfi_reader *c)
{
	uint64_t size = cfi_uleb(c);
	const uint8_t *bytes = cfi_bytes(c, size);

	return cfi_reader_init(bytes, bytes ? (size_t)size : 0);
}

static void set_cfa_off(struct run *r, int64_t off)
{
	r->now.cfa_off = off;
}

static int64_t factored(const struct run *r, int64_t n)
{
	int64_t off;

	return __builtin_mul_overflow(n, r->common->data_align, &off) ? INT64_MAX : off;
}

static void def_cfa(struct run *r, uint64_t reg, int64_t off)
{
	r->now.by_expression = false;
	r->now.cfa_reg = reg;
	set_cfa_off(r, off);
}

static void remember(struct run *r)
{
	if (r->nr_remembered < MAX_REMEMBERED)
		r->remembered[r->nr_remembered++] = r->now;
	else
		r->damaged = true;
}

static void recall(struct run *r)
{
	if (r->nr_remembered)
		r->now = r->remembered[--r->nr_remembered];
	else
		r->damaged = true;
}

/* Those that change what the CFA is.  False: @op is none. */
static bool of_cfa(struct run *r, uint8_t op, struct cfi_reader *c)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cfi_uleb(c);
		def_cfa(r, reg, (int64_t)cfi_uleb(c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cfi_uleb(c);
		def_cfa(r, reg, factored(r, cfi_sleb(c)));
		break;
	case DW_CFA_def_cfa_register:
		def_cfa(r, cfi_uleb(c), r->now.cfa_off);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa_off(r, (int64_t)cfi_uleb(c));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_off(r, factored(r, cfi_sleb(c)));
		break;
	case DW_CFA_def_cfa_expression:
		cfa_expression(r, take_block(c));
		break;
	default:
		return false;
	}
	return true;
}

/* Those that change where a register is.  False: @op is none. */
static bool of_registers(struct run *r, uint8_t op, struct cfi_reader *c)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_offset_extended:
		reg = cfi_uleb(c);
		set_at_cfa(r, reg, (int64_t)cfi_uleb(c));
		break;
	case DW_CFA_offset_extended_sf:
		reg = cfi_uleb(c);
		set_at_cfa(r, reg, cfi_sleb(c));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = cfi_uleb(c);
		set_at_cfa(r, reg, -(int64_t)cfi_uleb(c));
		break;
	case DW_CFA_restore_extended:
		restore(r, cfi_uleb(c));
		break;
	case DW_CFA_undefined:
		set_undefined(r, cfi_uleb(c));
		break;
	case DW_CFA_same_value:
		set_how(r, cfi_uleb(c), CFI_SAME);
		break;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_how(r, cfi_uleb(c), CFI_LOST);
		cfi_uleb(c);
		break;
	case DW_CFA_expression:
		reg = cfi_uleb(c);
		saved_expression(r, reg, take_block(c));
		break;
	case DW_CFA_val_expression:
		set_how(r, cfi_uleb(c), CFI_LOST);
		take_block(c);
		break;
	default:
		return false;
	}
	return true;
}

static void instruction(struct run *r, struct cfi_reader *c)
{
	uint8_t op = cfi_u8(c), low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance(r, low);
		return;
	case DW_CFA_offset:
		set_at_cfa(r, low, (int64_t)cfi_uleb(c));
		return;
	case DW_CFA_restore:
		restore(r, low);
		return;
	default:
		break;
	}
	if (of_cfa(r, op, c) || of_registers(r, op, c))
		return;
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_GNU_window_save: /* arm64: the return address is signed, or not, */
	case DW_CFA_SIGNED_WITH_PC:  /* with the address of the signing, too */
		break;
	case DW_CFA_advance_loc1:
		advance(r, cfi_u8(c));
		break;
	case DW_CFA_advance_loc2:
		advance(r, cfi_fixed(c, 2));
		break;
	case DW_CFA_advance_loc4:
		advance(r, cfi_fixed(c, 4));
		break;
	case DW_CFA_MIPS_advance_loc8:
		advance(r, cfi_fixed(c, 8));
		break;
	case DW_CFA_set_loc:
		set_location(r, c);
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		recall(r);
		break;
	case DW_CFA_GNU_args_size:
		cfi_uleb(c);
		break;
	default:
		r->damaged = true;
	}
}

static void run(struct run *r, struct cfi_reader code)
{
	while (cfi_left(&code) && !r->damaged && !r->rc) {
		instruction(r, &code);
		r->damaged |= code.bad;
	}
}

int cfi_program_run(struct cfi_rows *rows, const struct cfi_common *common,
		    const struct cfi_place *place, struct cfi_reader code)
{
	struct holds remembered[MAX_REMEMBERED];
	struct run r = { .rows = rows,
			 .remembered = remembered,
			 .common = common,
			 .col = &columns[common->machine],
			 .at = place->vma,
			 .end = place->vma + place->size,
			 .to_key = place->key - place->vma };

	r.rc = cfi_rows_begin(rows, place->key, (uint32_t)(place->key + place->size));
	run(&r, common->initial);
	r.initial = r.now;
	run(&r, code);
	emit(&r);
	return r.rc;
}
