/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/unwind.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/unit/libcfi/made.h"

/* One image, mapped at IMAGE; code without a table, at JIT; a stack, at STACK. */
enum {
	IMAGE = 0x400000,
	JIT = 0x700000,
	ROOM = 0x10000,
	STACK = 0x7ff000,
	WORDS = 64,
	MAX = 8,
	/* functions of the image */
	MAIN = 0x100,     /* 16 bytes of its own; the outermost one */
	PUSHES = 0x200,   /* rbp is pushed at 1, popped before 8 */
	FRAMED = 0x300,   /* has rbp as its frame pointer */
	RESOLVES = 0x400, /* CFA = rbx + 16 */
	RESTORES = 0x500, /* signal frame */
	PLT = 0x600,
	BAD = 0x700,
	NOTHING = 0x800, /* no rule */
	SAVES_BX = 0x900,
	LEAF = 0xa00,      /* arm64: all is in registers */
	ARM_FRAME = 0xb00, /* arm64: x29 and x30 are saved */
};

struct world {
	struct made image;
	uint64_t stack[WORDS];
	struct cfi_stack copy;
	struct cfi_unwinder u;
	struct cfi_frame frames[MAX];
	size_t nr;
};

static void find(void *arg, uint64_t ip, struct cfi_code *out)
{
	const struct world *w = arg;

	if (ip - IMAGE < ROOM) {
		out->table = &w->image.table;
		out->key = ip - IMAGE;
	} else {
		out->unknown = ip - JIT >= ROOM;
	}
}

static void world_init(struct world *w, enum cfi_machine machine)
{
	struct made *m = &w->image;

	*w = (struct world){ .image.machine = machine };
	made_common(m, "zR");
	made_function(m, MAIN, 16, CODE(0x07, machine == CFI_ARM64 ? 30 : 16));
	made_function(m, PUSHES, 16, CODE(0x41, 0x0e, 16, 0x86, 2, 0x47, 0x0e, 8));
	made_function(m, FRAMED, 16, CODE(0x0c, 6, 16, 0x86, 2));
	made_function(m, RESOLVES, 16, CODE(0x0c, 3, 16, 0x83, 2));
	made_function(m, PLT, 16,
		      CODE(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24,
			   0x22));
	made_function(m, BAD, 16, CODE(0x3c));
	made_function(m, SAVES_BX, 16, CODE(0x0e, 16, 0x83, 2));
	made_function(m, LEAF, 16, CODE(0));
	made_function(m, ARM_FRAME, 16, CODE(0x0e, 32, 0x9d, 4, 0x9e, 3));
	made_common(m, "zRS");
	made_function(m, RESTORES, 16,
		      CODE(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1, 0x10,
			   6, 2, 0x77, 0, 0x10, 3, 2, 0x77, 8));
	made_compile(m);
	w->u = (struct cfi_unwinder){ .machine = machine, .find = find, .arg = w };
	w->copy = (struct cfi_stack){ STACK, w->stack, sizeof(w->stack), false };
}

static void world_fini(struct world *w)
{
	made_fini(&w->image);
}

static uint64_t word(size_t i)
{
	return STACK + 8 * i;
}

static enum cfi_end unwind(struct world *w, struct cfi_regs regs)
{
	if (!regs.sp)
		regs.sp = STACK;
	return cfi_unwind(&w->u, &regs, &w->copy, w->frames, MAX, &w->nr);
}

static void expect_frame(const struct world *w, size_t i, uint64_t ip, bool exact)
{
	cr_assert_lt(i, w->nr, "%zu of %zu frames", i, w->nr);
	cr_expect_eq(w->frames[i].ip, ip, "frame %zu: %#lx", i, w->frames[i].ip);
	cr_expect_eq(w->frames[i].exact, exact);
}

#define WORLD(w, machine)                                                                \
	CLEANUP(world_fini) struct world w;                                              \
	world_init(&w, machine)

Test(unwind, goes_from_frame_to_frame_up_to_the_outermost)
{
	WORLD(w, CFI_X86_64);
	w.stack[0] = word(8); /* rbp */
	w.stack[1] = IMAGE + FRAMED + 4;
	w.stack[8] = 0x77;
	w.stack[9] = IMAGE + MAIN + 16; /* behind its last byte: a call is its last */
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES + 4 }),
		     CFI_END_WHOLE);
	cr_expect_eq(w.nr, 3);
	expect_frame(&w, 0, IMAGE + PUSHES + 4, true);
	expect_frame(&w, 1, IMAGE + FRAMED + 4, false);
	expect_frame(&w, 2, IMAGE + MAIN + 16, false);
}

Test(unwind, takes_registers_that_were_popped_already_as_they_are)
{
	WORLD(w, CFI_X86_64);
	/* PUSHES has popped rbp, and its rule still says where that was: at word 0 */
	w.stack[0] = 0x666;
	w.stack[1] = IMAGE + FRAMED + 4;
	w.stack[9] = IMAGE + MAIN + 4;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES + 8,
						   .sp = word(1),
						   .fp = word(8) }),
		     CFI_END_WHOLE);
	expect_frame(&w, 1, IMAGE + FRAMED + 4, false);
	expect_frame(&w, 2, IMAGE + MAIN + 4, false);
}

Test(unwind, goes_by_frame_pointers_where_there_is_no_rule)
{
	WORLD(w, CFI_X86_64);
	w.stack[4] = word(8);
	w.stack[5] = JIT + 8;
	w.stack[8] = 0;
	w.stack[9] = IMAGE + MAIN + 4;
	cr_expect_eq(unwind(&w,
			    (struct cfi_regs){ .ip = IMAGE + NOTHING, .fp = word(4) }),
		     CFI_END_WHOLE);
	cr_expect_eq(w.nr, 3);
	expect_frame(&w, 1, JIT + 8, false);
	expect_frame(&w, 2, IMAGE + MAIN + 4, false);
}

Test(unwind, believes_no_frame_pointer_that_leads_nowhere)
{
	static const uint64_t wrong[] = {
		0, 1, 0x1234, STACK - 8, STACK + 1, STACK + 8 * WORDS - 8, UINT64_MAX - 7
	};

	WORLD(w, CFI_X86_64);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = JIT, .fp = wrong[i] }),
			     CFI_END_NO_TABLE);
		cr_expect_eq(w.nr, 1);
	}
	/* where it leads is no return address */
	w.stack[5] = 0x123456789;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = JIT, .fp = word(4) }),
		     CFI_END_NO_TABLE);
}

Test(unwind, knows_where_an_entry_of_a_plt_has_pushed)
{
	WORLD(w, CFI_X86_64);
	w.stack[0] = IMAGE + MAIN + 4;
	unwind(&w, (struct cfi_regs){ .ip = IMAGE + PLT + 6 });
	expect_frame(&w, 1, IMAGE + MAIN + 4, false);
	w.stack[0] = 3;
	w.stack[1] = IMAGE + MAIN + 8;
	unwind(&w, (struct cfi_regs){ .ip = IMAGE + PLT + 11 });
	expect_frame(&w, 1, IMAGE + MAIN + 8, false);
}

Test(unwind, follows_rbx_to_where_a_rule_needs_it)
{
	WORLD(w, CFI_X86_64);
	w.stack[0] = word(6);
	w.stack[1] = IMAGE + RESOLVES + 4;
	w.stack[7] = IMAGE + MAIN + 4;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + SAVES_BX }),
		     CFI_END_WHOLE);
	expect_frame(&w, 1, IMAGE + RESOLVES + 4, false);
	expect_frame(&w, 2, IMAGE + MAIN + 4, false);
	/* behind a step by the frame pointer nobody knows it */
	w.stack[1] = IMAGE + RESOLVES + 4;
	cr_expect_eq(unwind(&w,
			    (struct cfi_regs){ .ip = JIT, .fp = STACK, .bx = word(6) }),
		     CFI_END_DAMAGED);
	cr_expect_eq(w.nr, 2);
}

/* A signal frame at word 1, which interrupted @ip with the stack pointer @sp. */
static void put_signal(struct world *w, uint64_t ip, uint64_t sp, uint64_t fp)
{
	w->stack[0] = IMAGE + RESTORES;
	w->stack[1] = fp;
	w->stack[1 + 20] = sp;
	w->stack[1 + 21] = ip;
}

Test(unwind, goes_through_signals_to_exact_addresses)
{
	WORLD(w, CFI_X86_64);
	/* the rule of the byte before RESTORES would be another one's */
	put_signal(&w, IMAGE + PUSHES, word(30), 0);
	w.stack[0] = IMAGE + RESTORES + 1;
	w.stack[30] = IMAGE + MAIN + 4;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES }),
		     CFI_END_WHOLE);
	cr_expect_eq(w.nr, 4);
	expect_frame(&w, 1, IMAGE + RESTORES + 1, false);
	expect_frame(&w, 2, IMAGE + PUSHES, true);
	expect_frame(&w, 3, IMAGE + MAIN + 4, false);
}

Test(unwind, ends_short_where_a_signal_interrupted_another_stack)
{
	WORLD(w, CFI_X86_64);
	w.copy.whole = true; /* of the handler's stack */
	put_signal(&w, IMAGE + PUSHES, 0x1000, 0);
	w.stack[0] = IMAGE + RESTORES + 1;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES }),
		     CFI_END_SHORT);
	cr_expect_eq(w.nr, 3);
	expect_frame(&w, 2, IMAGE + PUSHES, true);
	put_signal(&w, IMAGE + PUSHES, STACK + 0x100000, 0);
	w.stack[0] = IMAGE + RESTORES + 1;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES }),
		     CFI_END_SHORT);
	/* below, but copied */
	put_signal(&w, IMAGE + PUSHES, word(40), 0);
	w.stack[40] = IMAGE + MAIN + 4;
	w.stack[0] = IMAGE + RESTORES + 1;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES }),
		     CFI_END_WHOLE);
}

Test(unwind, tells_why_a_stack_ends)
{
	WORLD(w, CFI_X86_64);
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = 0x123 }), CFI_END_UNKNOWN);
	cr_expect_eq(w.nr, 1);
	w.stack[0] = 0x123; /* a return address that is none */
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES }),
		     CFI_END_UNKNOWN);
	cr_expect_eq(w.nr, 1);
	w.stack[0] = 0; /* below it a thread began */
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + PUSHES }),
		     CFI_END_WHOLE);
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + BAD }), CFI_END_DAMAGED);
	for (size_t i = 0; i < WORDS; i++)
		w.stack[i] = IMAGE + LEAF + 4;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + LEAF }), CFI_END_FULL);
	cr_expect_eq(w.nr, MAX);
	w.copy.size = 3 * 8 + 7; /* the fourth word is not whole */
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + LEAF }), CFI_END_SHORT);
	cr_expect_eq(w.nr, 4);
	w.copy.whole = true;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + LEAF }),
		     CFI_END_DAMAGED);
	w.copy.size = 0;
	w.copy.whole = false;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + LEAF }), CFI_END_SHORT);
	/* a stack that goes down */
	cr_expect_eq(unwind(&w,
			    (struct cfi_regs){ .ip = IMAGE + FRAMED, .fp = STACK - 64 }),
		     CFI_END_DAMAGED);
}

Test(unwind, writes_no_frame_that_was_not_asked_for)
{
	WORLD(w, CFI_X86_64);
	struct cfi_regs regs = { .ip = IMAGE + LEAF, .sp = STACK };

	cr_expect_eq(cfi_unwind(&w.u, &regs, &w.copy, NULL, 0, &w.nr), CFI_END_FULL);
	cr_expect_eq(w.nr, 0);
}

Test(unwind, takes_return_addresses_of_leaves_from_the_link_register)
{
	WORLD(w, CFI_ARM64);
	w.stack[1] = IMAGE + MAIN + 4;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + LEAF + 4,
						   .lr = IMAGE + ARM_FRAME + 8 }),
		     CFI_END_WHOLE);
	cr_expect_eq(w.nr, 3);
	expect_frame(&w, 1, IMAGE + ARM_FRAME + 8, false);
	expect_frame(&w, 2, IMAGE + MAIN + 4, false);
	/* who has called cannot have it there any more */
	w.stack[1] = IMAGE + LEAF + 4;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + ARM_FRAME, .lr = JIT }),
		     CFI_END_DAMAGED);
}

Test(unwind, takes_signatures_off_return_addresses)
{
	const uint64_t mask = 0x007f000000000000;

	WORLD(w, CFI_ARM64);
	w.u.pac_mask = mask;
	w.stack[1] = (IMAGE + MAIN + 4) | (0x0035ull << 48);
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + LEAF,
						   .lr = (IMAGE + ARM_FRAME + 8) |
							 (0x0071ull << 48) }),
		     CFI_END_WHOLE);
	expect_frame(&w, 1, IMAGE + ARM_FRAME + 8, false);
	expect_frame(&w, 2, IMAGE + MAIN + 4, false);
	/* by frame pointers, too */
	w.stack[3] = (IMAGE + MAIN + 4) | (0x0011ull << 48);
	unwind(&w, (struct cfi_regs){ .ip = JIT, .fp = word(2) });
	expect_frame(&w, 1, IMAGE + MAIN + 4, false);
}

Test(unwind, knows_what_a_signal_interrupted_on_arm64)
{
	WORLD(w, CFI_ARM64);
	/* the frame of the signal begins at word 0 */
	uint64_t far[128] = { 0 };

	w.copy = (struct cfi_stack){ STACK, far, sizeof(far), false };
	far[(312 + 29 * 8) / 8] = word(100);        /* x29 */
	far[(312 + 30 * 8) / 8] = IMAGE + MAIN + 8; /* x30: a leaf was interrupted */
	far[(312 + 31 * 8) / 8] = word(90);
	far[(312 + 32 * 8) / 8] = IMAGE + LEAF + 4;
	cr_expect_eq(unwind(&w, (struct cfi_regs){ .ip = IMAGE + LEAF,
						   .lr = IMAGE + RESTORES + 4 }),
		     CFI_END_WHOLE);
	cr_expect_eq(w.nr, 4);
	expect_frame(&w, 1, IMAGE + RESTORES + 4, false);
	expect_frame(&w, 2, IMAGE + LEAF + 4, true);
	expect_frame(&w, 3, IMAGE + MAIN + 8, false);
}
