/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/unwind.h"

#include <string.h>

enum { WORD = 8 };

/* A frame on the way up: its registers, and which of them are not known. */
struct state {
	const struct cfi_unwinder *u;
	const struct cfi_stack *stack;
	struct cfi_regs regs;
	bool exact; /* of regs.ip */
	bool no_fp, no_lr, no_bx;
	bool elsewhere;   /* a signal interrupted code on a stack that was not copied */
	enum cfi_end end; /* why there is no caller */
};

static bool fail(struct state *s, enum cfi_end end)
{
	s->end = end;
	return false;
}

/* A word of the stack. */
static bool load(struct state *s, uint64_t at, uint64_t *out)
{
	const struct cfi_stack *stack = s->stack;
	uint64_t off = at - stack->start;

	if (at >= stack->start && stack->size >= WORD && off <= stack->size - WORD) {
		memcpy(out, (const char *)stack->bytes + off, WORD);
		return true;
	}
	if (!s->elsewhere && (at < stack->start || stack->whole))
		return fail(s, CFI_END_DAMAGED);
	return fail(s, CFI_END_SHORT);
}

/* What a rule counts from. */
static bool base_of(struct state *s, unsigned base, uint64_t cfa, uint64_t *out)
{
	switch (base) {
	case CFI_BY_SP:
		*out = s->regs.sp;
		return true;
	case CFI_BY_FP:
		*out = s->regs.fp;
		return !s->no_fp || fail(s, CFI_END_DAMAGED);
	case CFI_BY_BX:
		*out = s->regs.bx;
		return !s->no_bx || fail(s, CFI_END_DAMAGED);
	default:
		*out = cfa;
		return true;
	}
}

/* What the stack pointer was before the call. */
static bool cfa_of(struct state *s, const struct cfi_rule *r, uint64_t *cfa)
{
	uint64_t base;

	if (!base_of(s, r->base, 0, &base))
		return false;
	*cfa = base + (uint64_t)(int64_t)r->off;
	if (r->kind == CFI_PLT && (s->regs.ip & 15) >= (uint32_t)r->add)
		*cfa += WORD;
	if (r->kind != CFI_DEREF)
		return true;
	if (!load(s, *cfa, cfa))
		return false;
	*cfa += (uint64_t)(int64_t)r->add;
	return true;
}

/*
 * A register as the caller has it.  One that was saved below the stack pointer has been
 * taken from there by now, and is what it was: the end of a function, which compilers do
 * not describe that exactly.
 */
static bool restore(struct state *s, const struct cfi_saved *saved, uint64_t cfa,
		    uint64_t *reg, bool *lost)
{
	uint64_t at;

	if (saved->how == CFI_LOST)
		*lost = true;
	if (saved->how != CFI_SAVED)
		return true;
	if (!base_of(s, saved->base, cfa, &at))
		return false;
	at += (uint64_t)(int64_t)saved->off;
	if (at < s->regs.sp)
		return true;
	*lost = false;
	return load(s, at, reg);
}

/* The stack goes up, but where a signal was handled on another one. */
static bool goes_up(const struct state *s, const struct cfi_rule *r, uint64_t cfa)
{
	if (cfa > s->regs.sp || r->signal)
		return true;
	/* arm64: a function without a frame has not moved it yet */
	return s->u->machine == CFI_ARM64 && cfa == s->regs.sp && s->exact;
}

/* The return address: saved, or, on arm64, still in the link register. */
static bool return_address(struct state *s, const struct cfi_rule *r, uint64_t cfa,
			   uint64_t *ip)
{
	/* x86-64 has no such register */
	bool lost = s->no_lr || s->u->machine != CFI_ARM64;

	*ip = s->regs.lr;
	if (!restore(s, &r->saved[CFI_RA], cfa, ip, &lost))
		return false;
	*ip &= ~s->u->pac_mask; /* user addresses have zeros there */
	return !lost || fail(s, CFI_END_DAMAGED);
}

static bool step_by_rule(struct state *s, const struct cfi_rule *r)
{
	bool arm = s->u->machine == CFI_ARM64;
	const struct cfi_stack *stack = s->stack;
	struct cfi_regs next = s->regs;
	bool no_fp = s->no_fp, no_bx = s->no_bx;
	uint64_t cfa;

	if (!cfa_of(s, r, &cfa))
		return false;
	if (!goes_up(s, r, cfa))
		return fail(s, CFI_END_DAMAGED);
	if (!return_address(s, r, cfa, &next.ip) ||
	    !restore(s, &r->saved[CFI_FP], cfa, &next.fp, &no_fp) ||
	    !restore(s, &r->saved[CFI_BX], cfa, arm ? &next.lr : &next.bx, &no_bx))
		return false;
	next.sp = cfa;
	s->regs = next;
	s->no_fp = no_fp;
	s->no_bx = no_bx || arm;
	/* a call has changed it, a signal has not */
	s->no_lr = !r->signal;
	s->exact = r->signal;
	if (r->signal)
		s->elsewhere = cfa < stack->start || cfa - stack->start > stack->size;
	return true;
}

static bool find(const struct state *s, uint64_t ip, bool exact, struct cfi_code *out)
{
	*out = (struct cfi_code){ 0 };
	/* a call may be the last instruction of its function */
	s->u->find(s->u->arg, ip - !exact, out);
	return !out->unknown;
}

/* One step by the frame pointer, where nothing else is known. */
static bool step_by_frame(struct state *s)
{
	uint64_t fp = s->regs.fp, caller_fp, ip;
	struct cfi_code code;

	if (s->no_fp || fp < s->regs.sp || fp % WORD || !load(s, fp, &caller_fp) ||
	    !load(s, fp + WORD, &ip))
		return fail(s, CFI_END_NO_TABLE);
	ip &= ~s->u->pac_mask;
	if (ip && !find(s, ip, false, &code))
		return fail(s, CFI_END_NO_TABLE);
	s->regs = (struct cfi_regs){ .ip = ip, .sp = fp + 2 * WORD, .fp = caller_fp };
	s->no_lr = s->no_bx = true;
	s->exact = false;
	return true;
}

/* Makes @s the caller's. */
static bool step(struct state *s, const struct cfi_code *code)
{
	const struct cfi_rule *r = NULL;

	if (code->table && code->table->machine == s->u->machine)
		r = cfi_table_find(code->table, code->key);
	if (!r || r->kind == CFI_NONE)
		return step_by_frame(s);
	if (r->kind == CFI_OUTER)
		return fail(s, CFI_END_WHOLE);
	return r->kind == CFI_DAMAGED ? fail(s, CFI_END_DAMAGED) : step_by_rule(s, r);
}

enum cfi_end cfi_unwind(const struct cfi_unwinder *u, const struct cfi_regs *regs,
			const struct cfi_stack *stack, struct cfi_frame *frames,
			size_t max, size_t *nr)
{
	struct state s = { .u = u, .stack = stack, .regs = *regs, .exact = true };
	struct cfi_code code;

	for (*nr = 0;;) {
		bool known = find(&s, s.regs.ip, s.exact, &code);

		if (!known && *nr)
			return CFI_END_UNKNOWN;
		if (*nr == max)
			return CFI_END_FULL;
		frames[(*nr)++] = (struct cfi_frame){ s.regs.ip, s.exact };
		if (!known)
			return CFI_END_UNKNOWN;
		if (!step(&s, &code))
			return s.end;
		/* threads begin below address 0 */
		if (!s.regs.ip)
			return CFI_END_WHOLE;
	}
}
