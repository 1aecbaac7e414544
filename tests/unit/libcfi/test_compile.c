/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/compile.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "tests/unit/libcfi/made.h"

enum { AT = 0x1000, SIZE = 0x100 };

/* The table of one function with these instructions. */
static void make_with(struct made *m, const char *letters, const uint8_t *code,
		      size_t size)
{
	made_common(m, letters);
	made_function(m, AT, SIZE, code, size);
	made_compile(m);
}

static void make(struct made *m, const uint8_t *code, size_t size)
{
	make_with(m, "zR", code, size);
}

static const struct cfi_rule *at(const struct made *m, uint64_t off)
{
	return cfi_table_find(&m->table, AT + off);
}

static void expect_plain(const struct cfi_rule *r, unsigned base, int off)
{
	cr_expect_eq(r->kind, CFI_PLAIN, "kind %u", r->kind);
	cr_expect_eq(r->base, base);
	cr_expect_eq(r->off, off, "off %d", r->off);
}

static void expect_saved(const struct cfi_saved *s, unsigned base, int off)
{
	cr_expect_eq(s->how, CFI_SAVED, "how %u", s->how);
	cr_expect_eq(s->base, base);
	cr_expect_eq(s->off, off, "off %d", s->off);
}

Test(compile, follows_a_function_that_pushes_and_pops)
{
	CLEANUP(made_fini) struct made m = { 0 };

	/* push rbp; mov rsp, rbp; ...; leave */
	make(&m, CODE(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x60, 0x0c, 7, 8));
	expect_plain(at(&m, 0), CFI_BY_SP, 8);
	cr_expect_eq(at(&m, 0)->saved[CFI_FP].how, CFI_SAME);
	expect_plain(at(&m, 1), CFI_BY_SP, 16);
	expect_saved(&at(&m, 1)->saved[CFI_FP], CFI_BY_CFA, -16);
	expect_saved(&at(&m, 1)->saved[CFI_RA], CFI_BY_CFA, -8);
	expect_plain(at(&m, 4), CFI_BY_FP, 16);
	expect_plain(at(&m, 0x23), CFI_BY_FP, 16);
	expect_plain(at(&m, 0x24), CFI_BY_SP, 8);
	cr_expect_eq(cfi_table_find(&m.table, AT - 1)->kind, CFI_NONE);
	cr_expect_eq(at(&m, SIZE)->kind, CFI_NONE);
}

Test(compile, remembers_and_restores_states)
{
	CLEANUP(made_fini) struct made m = { 0 };

	make(&m, CODE(0x41, 0x0e, 16, 0x83, 2, 0x41, 0x0a, 0x0e, 8, 0xc3, 0x41, 0x0b));
	expect_plain(at(&m, 1), CFI_BY_SP, 16);
	expect_plain(at(&m, 2), CFI_BY_SP, 8);
	cr_expect_eq(at(&m, 2)->saved[CFI_BX].how, CFI_SAME);
	expect_plain(at(&m, 3), CFI_BY_SP, 16);
	expect_saved(&at(&m, 3)->saved[CFI_BX], CFI_BY_CFA, -16);
}

Test(compile, takes_every_width_of_instructions)
{
	CLEANUP(made_fini) struct made m = { 0 };

	make(&m, CODE(0x02, 2, 0x0e, 16,      /* advance_loc1 */
		      0x03, 2, 0, 0x13, 0x7d, /* advance_loc2, def_cfa_offset_sf */
		      0x04, 2, 0, 0, 0, 0x12, 6, 0x7c,    /* advance_loc4, def_cfa_sf */
		      0x1d, 2, 0, 0, 0, 0, 0, 0, 0,       /* advance_loc8 */
		      0x2e, 16,                           /* args_size: of no matter */
		      0x05, 6, 2, 0x11, 3, 0x7d,          /* offset_extended, _sf */
		      0x2f, 16, 1,                        /* negative_offset_extended */
		      0x01, 0x20, 0x10, 0, 0, 0, 0, 0, 0, /* set_loc */
		      0x06, 6, 0x08, 3)); /* restore_extended, same_value */
	expect_plain(at(&m, 2), CFI_BY_SP, 16);
	expect_plain(at(&m, 4), CFI_BY_SP, 24);
	expect_plain(at(&m, 6), CFI_BY_FP, 32);
	expect_saved(&at(&m, 8)->saved[CFI_FP], CFI_BY_CFA, -16);
	expect_saved(&at(&m, 8)->saved[CFI_BX], CFI_BY_CFA, 24);
	expect_saved(&at(&m, 8)->saved[CFI_RA], CFI_BY_CFA, 8);
	cr_expect_eq(at(&m, 0x1f)->saved[CFI_FP].how, CFI_SAVED);
	cr_expect_eq(at(&m, 0x20)->saved[CFI_FP].how, CFI_SAME);
	cr_expect_eq(at(&m, 0x20)->saved[CFI_BX].how, CFI_SAME);
}

Test(compile, knows_plts_by_their_expression)
{
	CLEANUP(made_fini) struct made m = { 0 };

	make(&m,
	     CODE(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22));
	cr_expect_eq(at(&m, 0)->kind, CFI_PLT);
	cr_expect_eq(at(&m, 0)->off, 8);
	cr_expect_eq(at(&m, 0)->add, 11);
}

Test(compile, knows_frames_that_were_aligned_anew)
{
	CLEANUP(made_fini) struct made m = { 0 };

	/* CFA = *(rbp - 8); rbp at rbp + 0; rbx at rbp - 16 */
	make(&m, CODE(0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76,
		      0x70));
	cr_expect_eq(at(&m, 0)->kind, CFI_DEREF);
	cr_expect_eq(at(&m, 0)->base, CFI_BY_FP);
	cr_expect_eq(at(&m, 0)->off, -8);
	cr_expect_eq(at(&m, 0)->add, 0);
	expect_saved(&at(&m, 0)->saved[CFI_FP], CFI_BY_FP, 0);
	expect_saved(&at(&m, 0)->saved[CFI_BX], CFI_BY_FP, -16);
}

Test(compile, knows_signal_frames)
{
	CLEANUP(made_fini) struct made m = { 0 };

	/* as glibc's: CFA = *(rsp + 160), rip at rsp + 168 */
	make_with(&m, "zRS",
		  CODE(0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1));
	cr_expect_eq(at(&m, 0)->kind, CFI_DEREF);
	cr_expect(at(&m, 0)->signal);
	cr_expect_eq(at(&m, 0)->off, 160);
	expect_saved(&at(&m, 0)->saved[CFI_RA], CFI_BY_SP, 168);
}

Test(compile, has_a_rule_of_its_own_for_signal_frames_of_arm64)
{
	CLEANUP(made_fini) struct made m = { .machine = CFI_ARM64 };

	make_with(&m, "zRS", CODE(0x0c, 29, 0, 0x9d, 0, 0x9e, 1));
	cr_expect_arr_eq(at(&m, 0), &cfi_signal_rules[CFI_ARM64], sizeof(*at(&m, 0)));
}

Test(compile, ends_stacks_where_the_return_address_is_undefined)
{
	CLEANUP(made_fini) struct made m = { 0 };

	make(&m, CODE(0x44, 0x07, 16));
	cr_expect_eq(at(&m, 3)->kind, CFI_PLAIN);
	cr_expect_eq(at(&m, 4)->kind, CFI_OUTER);
}

Test(compile, leaves_return_addresses_of_arm64_in_the_link_register)
{
	CLEANUP(made_fini) struct made m = { .machine = CFI_ARM64 };

	/* paciasp; stp x29, x30, [sp, -32]!; autiasp */
	make(&m, CODE(0x44, 0x2d, 0x44, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x48, 0xdd, 0xde,
		      0x0e, 0, 0x44, 0x2d));
	expect_plain(at(&m, 0), CFI_BY_SP, 0);
	cr_expect_eq(at(&m, 0)->saved[CFI_RA].how, CFI_SAME);
	expect_plain(at(&m, 8), CFI_BY_SP, 32);
	expect_saved(&at(&m, 8)->saved[CFI_RA], CFI_BY_CFA, -24);
	expect_saved(&at(&m, 8)->saved[CFI_FP], CFI_BY_CFA, -32);
	expect_plain(at(&m, 16), CFI_BY_SP, 0);
	cr_expect_eq(at(&m, 20)->saved[CFI_RA].how, CFI_SAME);
}

static const struct {
	const char *what;
	uint8_t code[16];
	size_t size;
	unsigned kind; /* of what is behind it */
} beyond_us[] = {
	{ "a register that is not sampled", { 0x41, 0x0c, 10, 0 }, 4, CFI_DAMAGED },
	{ "an expression of another kind",
	  { 0x41, 0x0f, 2, 0x77, 8, 0x1c },
	  6,
	  CFI_DAMAGED },
	{ "an expression that is cut off", { 0x41, 0x0f, 9, 0x77 }, 4, CFI_DAMAGED },
	{ "an unknown instruction", { 0x41, 0x3c, 1, 2 }, 4, CFI_DAMAGED },
	{ "a state that was not remembered", { 0x41, 0x0b }, 2, CFI_DAMAGED },
	{ "a return address in a register", { 0x41, 0x09, 16, 1 }, 4, CFI_DAMAGED },
	{ "a return address that is a value", { 0x41, 0x14, 16, 1 }, 4, CFI_DAMAGED },
	{ "an offset beyond all frames",
	  { 0x41, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f },
	  7,
	  CFI_DAMAGED },
	{ "a way back", { 0x41, 0x01, 0, 0x10, 0, 0, 0, 0, 0, 0 }, 10, CFI_DAMAGED },
};

Test(compile, damages_only_rows_that_it_does_not_understand)
{
	for (size_t i = 0; i < sizeof(beyond_us) / sizeof(beyond_us[0]); i++) {
		CLEANUP(made_fini) struct made m = { 0 };

		made_common(&m, "zR");
		made_function(&m, AT, SIZE, beyond_us[i].code, beyond_us[i].size);
		made_function(&m, AT + SIZE, SIZE, CODE(0x0e, 16));
		made_compile(&m);
		expect_plain(at(&m, 0), CFI_BY_SP, 8);
		cr_expect_eq(at(&m, 1)->kind, beyond_us[i].kind, "%s", beyond_us[i].what);
		expect_plain(at(&m, SIZE), CFI_BY_SP, 16);
	}
}

Test(compile, gives_overlapping_code_to_who_begins_first)
{
	CLEANUP(made_fini) struct made m = { 0 };

	made_common(&m, "zR");
	made_function(&m, AT + 0x80, SIZE, CODE(0x0e, 32));
	made_function(&m, AT, SIZE, CODE(0x0e, 16));
	made_function(&m, AT + 4 * SIZE, SIZE, CODE(0x0e, 48));
	made_compile(&m);
	expect_plain(at(&m, 0xff), CFI_BY_SP, 16);
	expect_plain(at(&m, 0x100), CFI_BY_SP, 32);
	cr_expect_eq(at(&m, 0x180)->kind, CFI_NONE);
	expect_plain(at(&m, 4 * SIZE), CFI_BY_SP, 48);
}

Test(compile, refuses_common_parts_that_would_be_run_for_ever)
{
	static uint8_t nothing[4096];
	CLEANUP(made_fini) struct made m = { .machine = CFI_X86_64 };

	made_common_of(&m, "zR", nothing, sizeof(nothing));
	made_function(&m, AT, SIZE, CODE(0x0e, 16));
	made_compile(&m);
	cr_expect(cfi_table_empty(&m.table));
}

/* An augmentation of @nr letters that say nothing, and a function. */
static enum cfi_kind kind_with_letters(unsigned nr)
{
	CLEANUP(made_fini) struct made m = { 0 };
	char letters[64] = "zR";

	memset(letters + 2, 'B', nr - 2);
	make_with(&m, letters, CODE(0));
	return at(&m, 0)->kind;
}

Test(compile, knows_as_many_letters_as_there_are_and_no_more)
{
	cr_expect_eq(kind_with_letters(2), CFI_PLAIN);
	cr_expect_eq(kind_with_letters(8), CFI_PLAIN);
	cr_expect_eq(kind_with_letters(9), CFI_NONE);
	cr_expect_eq(kind_with_letters(60), CFI_NONE);
}

/* Functions of two common parts by turns, whose instructions are so many. */
static int compile_by_turns(struct made *m, size_t nops, size_t functions)
{
	CLEANUP(strbuf_fini) struct strbuf code = { 0 };
	size_t common[2];
	struct err err = { 0 };

	m->machine = CFI_X86_64;
	strbuf_add(&code, CODE(0x0c, 7, 8, 0x90, 1));
	strbuf_fill(&code, 0, nops);
	for (int i = 0; i < 2; i++) {
		made_common_of(m, "zR", (const uint8_t *)code.data, code.len);
		common[i] = m->common;
	}
	for (size_t i = 0; i < functions; i++) {
		m->common = common[i % 2];
		made_function(m, AT + i * SIZE, SIZE, CODE(0));
	}
	return cfi_compile_frames(m->machine, m->frames.data, m->frames.len, 0, &m->bytes,
				  &err);
}

Test(compile, common_parts_cost_no_more_than_their_section_is_long)
{
	CLEANUP(made_fini) struct made few = { 0 };
	CLEANUP(made_fini) struct made small = { 0 };
	CLEANUP(made_fini) struct made large = { 0 };
	CLEANUP(made_fini) struct made huge = { 0 };

	cr_expect_eq(compile_by_turns(&few, 900, 10), 0);
	cr_expect_eq(compile_by_turns(&small, 16, 10000), 0);
	cr_expect_eq(compile_by_turns(&large, 900, 10000), -E2BIG);
	/* not even looked at: reading them by turns would take hours */
	cr_expect_eq(compile_by_turns(&huge, 2000000, 100000), 0);
	cr_expect_eq(cfi_table_init(&huge.table, huge.bytes.data, huge.bytes.len, NULL),
		     0);
	cr_expect_eq(at(&huge, 0)->kind, CFI_NONE);
}

Test(compile, makes_an_empty_table_of_nothing)
{
	CLEANUP(made_fini) struct made m = { .machine = CFI_X86_64 };

	made_compile(&m);
	cr_expect(cfi_table_empty(&m.table));
	cr_expect_eq(cfi_table_find(&m.table, 0)->kind, CFI_NONE);
	cr_expect_eq(cfi_table_find(&m.table, UINT64_MAX)->kind, CFI_NONE);
}

static int compile_bytes(const void *bytes, size_t size, struct strbuf *out)
{
	CLEANUP(close_fd) int fd = memfd_create("elf", MFD_CLOEXEC);

	cr_assert(fd >= 0);
	cr_assert_eq(file_write_all(fd, bytes, size), 0);
	return cfi_compile_file(fd, out, NULL);
}

Test(compile, tells_what_is_no_elf_file)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	cr_expect_eq(compile_bytes("", 0, &out), -ENOEXEC);
	cr_expect_eq(compile_bytes("#!/bin/sh\n", 10, &out), -ENOEXEC);
	cr_expect_eq(out.len, 0);
}

Test(compile, makes_empty_tables_for_other_machines)
{
	static const struct {
		uint8_t class, data;
		uint16_t machine;
	} others[] = { { ELFCLASS32, ELFDATA2LSB, EM_386 },
		       { ELFCLASS64, ELFDATA2MSB, EM_S390 },
		       { ELFCLASS64, ELFDATA2LSB, EM_RISCV } };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		CLEANUP(strbuf_fini) struct strbuf out = { 0 };
		Elf64_Ehdr h = { .e_machine = others[i].machine };
		struct cfi_table t;

		memcpy(h.e_ident, ELFMAG, SELFMAG);
		h.e_ident[EI_CLASS] = others[i].class;
		h.e_ident[EI_DATA] = others[i].data;
		cr_assert_eq(compile_bytes(&h, sizeof(h), &out), 0);
		cr_assert_eq(cfi_table_init(&t, out.data, out.len, NULL), 0);
		cr_expect(cfi_table_empty(&t));
	}
}

/* An image: headers, one segment at its offset in the file, .eh_frame by its index. */
struct image {
	Elf64_Ehdr h;
	Elf64_Phdr p[2];
	uint8_t index[8];
	uint8_t code[64];
	uint8_t frames[512];
};

static void image_init(struct image *image, uint16_t machine)
{
	enum { BASE = 0x400000 };
	const size_t index = offsetof(struct image, index);
	const int32_t rel = (int32_t)(offsetof(struct image, frames) - index - 4);

	*image = (struct image){
		.h = { .e_machine = machine,
		       .e_phoff = offsetof(struct image, p),
		       .e_phentsize = sizeof(image->p[0]),
		       .e_phnum = 2,
		       .e_entry = BASE + offsetof(struct image, code) },
		.p = { { .p_type = PT_LOAD,
			 .p_flags = PF_R | PF_X,
			 .p_vaddr = BASE,
			 .p_filesz = sizeof(*image) },
		       { .p_type = PT_GNU_EH_FRAME,
			 .p_offset = index,
			 .p_vaddr = BASE + index,
			 .p_filesz = 8 } },
		.index = { 1, 0x1b, 0xff, 0xff },
	};
	memcpy(image->h.e_ident, ELFMAG, SELFMAG);
	image->h.e_ident[EI_CLASS] = ELFCLASS64;
	image->h.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(image->index + 4, &rel, sizeof(rel));
}

static const struct cfi_rule *rule_in(const struct image *image, struct strbuf *out,
				      size_t code_off)
{
	struct cfi_table t;

	strbuf_reset(out);
	cr_assert_eq(compile_bytes(image, sizeof(*image), out), 0);
	cr_assert_eq(cfi_table_init(&t, out->data, out->len, NULL), 0);
	return cfi_table_find(&t, offsetof(struct image, code) + code_off);
}

Test(compile, finds_frames_of_stripped_files_by_their_index)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	CLEANUP(made_fini) struct made m = { 0 };
	struct image image;

	made_common(&m, "zR");
	made_function(&m, 0x400000 + offsetof(struct image, code) + 16, 16,
		      CODE(0x0e, 40));
	image_init(&image, EM_X86_64);
	memcpy(image.frames, m.frames.data, m.frames.len);
	expect_plain(rule_in(&image, &out, 16), CFI_BY_SP, 40);
	cr_expect_eq(rule_in(&image, &out, 32)->kind, CFI_NONE);
}

Test(compile, ends_stacks_at_entry_points_that_nothing_describes)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct image image;

	image_init(&image, EM_X86_64);
	cr_expect_eq(rule_in(&image, &out, 0)->kind, CFI_OUTER);
}

Test(compile, knows_trampolines_of_signals_by_their_code)
{
	static const uint8_t arm[] = { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4 };
	static const uint8_t x86[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5 };
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	struct image image;

	image_init(&image, EM_AARCH64);
	image.h.e_entry = 0;
	memcpy(image.code + 16, arm, sizeof(arm));
	cr_expect(rule_in(&image, &out, 16)->signal);
	/* the return address less one is before it */
	cr_expect(rule_in(&image, &out, 15)->signal);
	cr_expect_not(rule_in(&image, &out, 11)->signal);
	cr_expect_not(rule_in(&image, &out, 24)->signal);
	image_init(&image, EM_X86_64);
	image.h.e_entry = 0;
	memcpy(image.code + 16, x86, sizeof(x86));
	cr_expect(rule_in(&image, &out, 15)->signal);
	cr_expect_eq(rule_in(&image, &out, 16)->off, 160);
}

/* ---- code made at run time */

static void compile_made(struct made *m, const struct cfi_made *made, size_t nr,
			 uint64_t size)
{
	struct err err = { 0 };

	cr_assert_eq(cfi_compile_made(CFI_X86_64, made, nr, size, &m->bytes, &err), 0,
		     "%s", err.msg);
	cr_assert_eq(cfi_table_init(&m->table, m->bytes.data, m->bytes.len, &err), 0,
		     "%s", err.msg);
}

static void expect_cfa(const struct made *m, uint64_t first, uint64_t behind, int off)
{
	for (uint64_t key = first; key < behind; key++) {
		const struct cfi_rule *r = cfi_table_find(&m->table, key);

		expect_plain(r, CFI_BY_SP, off);
		expect_saved(&r->saved[CFI_RA], CFI_BY_CFA, -8);
		cr_expect_eq(r->saved[CFI_FP].how, CFI_SAME);
	}
}

Test(compile, trampolines_of_cpython_are_known_and_what_is_behind_them_is_more_of_them)
{
	CLEANUP(made_fini) struct made m = { 0 };
	const struct cfi_made two[] = { { .start = 0x110, .size = 15 },
					{ .start = 0x100, .size = 11 },
					{ .start = 0x40, .size = 12 } };

	compile_made(&m, two, 3, 0x1000);
	cr_expect_eq(cfi_table_find(&m.table, 0x3f)->kind, CFI_NONE);
	expect_cfa(&m, 0x40, 0x100, 16); /* no trampoline, but among them */
	/* sub, call and add, ret */
	expect_cfa(&m, 0x100, 0x104, 8);
	expect_cfa(&m, 0x104, 0x10a, 16);
	expect_cfa(&m, 0x10a, 0x10b, 8);
	expect_cfa(&m, 0x10b, 0x110, 16);
	/* endbr64 first */
	expect_cfa(&m, 0x110, 0x118, 8);
	expect_cfa(&m, 0x118, 0x11e, 16);
	expect_cfa(&m, 0x11e, 0x11f, 8);
	expect_cfa(&m, 0x11f, 0x1000, 16);
	cr_expect_eq(cfi_table_find(&m.table, 0x1000)->kind, CFI_NONE);
}

Test(compile, trampolines_end_with_their_area)
{
	CLEANUP(made_fini) struct made m = { 0 };
	const struct cfi_made one = { .start = 0x100, .size = 11 };
	const struct cfi_made far[] = { { .start = UINT32_MAX - 5, .size = 11 },
					{ .start = UINT64_MAX - 5, .size = 11 } };

	compile_made(&m, &one, 1, UINT64_MAX);
	expect_cfa(&m, 0x100ff, 0x10100, 16);
	cr_expect_eq(cfi_table_find(&m.table, 0x10100)->kind, CFI_NONE);
	made_fini(&m);
	m = (struct made){ 0 };
	compile_made(&m, far, 2, UINT64_MAX);
	cr_expect_eq(cfi_table_find(&m.table, 0)->kind, CFI_NONE);
}

Test(compile, a_piece_of_code_has_its_section_behind_it)
{
	/* as CPython 3.13 writes it: a common part; 15 bytes, 48 before that field */
	static const uint8_t frames[] = {
		0x14, 0,    0,    0,    0,    0,    0,    0,    1,    'z',  'R', 0,    1,
		0x78, 0x10, 1,    0x1b, 0x0c, 7,    8,    0x90, 1,    0,    0,   0x14, 0,
		0,    0,    0x1c, 0,    0,    0,    0xd0, 0xff, 0xff, 0xff, 15,  0,    0,
		0,    0,    0x48, 0x0e, 0x10, 0x46, 0x0e, 8,    0,    0,    0,   0,    0
	};
	CLEANUP(made_fini) struct made m = { 0 };
	const struct cfi_made one = { .start = 0x200,
				      .size = 15,
				      .frames = frames,
				      .frames_size = sizeof(frames) };

	compile_made(&m, &one, 1, 0x1000);
	cr_expect_eq(cfi_table_find(&m.table, 0x1ff)->kind, CFI_NONE);
	expect_cfa(&m, 0x200, 0x208, 8);
	expect_cfa(&m, 0x208, 0x20e, 16);
	expect_cfa(&m, 0x20e, 0x20f, 8);
	cr_expect_eq(cfi_table_find(&m.table, 0x20f)->kind, CFI_NONE);
}
