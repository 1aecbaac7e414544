/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfidiff FILE...: compares the rows of libcfi's tables with what libdw says of the same
 * addresses, for the tests.  Prints a line for each kind of difference with an address,
 * and a line a file: "FILE: N rows, N the same, N undescribed, N differ".
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "libcfi/compile.h"
#include "libcfi/elf.h"
#include "libcfi/table.h"

enum { X86_FP = 6, X86_SP = 7, X86_BX = 3, X86_RA = 16 };

static _Noreturn void die(const char *path, const char *why)
{
	fprintf(stderr, "cfidiff: %s: %s\n", path, why);
	exit(2);
}

/* The register and what is added to it, of "register + off". */
static bool is_sum(const Dwarf_Op *ops, size_t nr, uint64_t *reg, int64_t *off)
{
	if (!nr || ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_bregx)
		return false;
	*reg = ops[0].atom == DW_OP_bregx ? ops[0].number
					  : (uint64_t)ops[0].atom - DW_OP_breg0;
	*off = (int64_t)(ops[0].atom == DW_OP_bregx ? ops[0].number2 : ops[0].number);
	return true;
}

static int base_of(uint64_t reg)
{
	return reg == X86_SP   ? CFI_BY_SP
	       : reg == X86_FP ? CFI_BY_FP
	       : reg == X86_BX ? CFI_BY_BX
			       : -1;
}

/* The CFA in our terms; kind CFI_DAMAGED where we have none for it. */
static struct cfi_rule cfa_of(Dwarf_Frame *frame)
{
	struct cfi_rule r = { .kind = CFI_DAMAGED };
	Dwarf_Op *ops;
	uint64_t reg;
	int64_t off;
	size_t nr;
	int base;

	if (dwarf_frame_cfa(frame, &ops, &nr) || !is_sum(ops, nr, &reg, &off))
		return r;
	base = base_of(reg);
	if (base < 0)
		return r;
	if (nr == 2 && ops[1].atom == DW_OP_plus_uconst) {
		off += (int64_t)ops[1].number;
		nr = 1;
	}
	r.base = (uint8_t)base;
	r.off = (int32_t)off;
	if (nr == 1) {
		r.kind = CFI_PLAIN;
	} else if (nr <= 3 && ops[1].atom == DW_OP_deref &&
		   (nr == 2 || ops[2].atom == DW_OP_plus_uconst)) {
		r.kind = CFI_DEREF;
		r.add = nr == 3 ? (int32_t)ops[2].number : 0;
	} else if (nr == 9 && ops[1].atom == DW_OP_breg16) {
		r.kind = CFI_PLT;
		r.add = ops[4].atom - DW_OP_lit0;
	}
	return r;
}

/* Where a register is saved, in our terms. */
static struct cfi_saved saved_of(Dwarf_Frame *frame, int reg, bool *no_caller)
{
	struct cfi_saved s = { CFI_LOST, 0, 0 };
	Dwarf_Op room[3], *ops;
	uint64_t base;
	int64_t off = 0;
	size_t nr, at = 0;

	if (dwarf_frame_register(frame, reg, room, &ops, &nr))
		return s;
	if (!nr) {
		*no_caller = reg == X86_RA && ops == room;
		s.how = ops ? CFI_LOST : CFI_SAME;
		return s;
	}
	/* an expression begins with the CFA, which ours forget */
	if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	    is_sum(ops + 1, 1, &base, &off) && base_of(base) >= 0) {
		s.base = (uint8_t)base_of(base);
		at = 2;
	} else if (ops[0].atom == DW_OP_call_frame_cfa) {
		s.base = CFI_BY_CFA;
		at = 1;
		if (nr > at && ops[at].atom == DW_OP_plus_uconst)
			off = (int64_t)ops[at++].number;
	} else if (is_sum(ops, nr, &base, &off) && base_of(base) >= 0) {
		s.base = (uint8_t)base_of(base);
		at = 1;
	}
	/* DW_OP_stack_value: the register is this value, else it is saved there */
	if (at && nr == at && off == (int16_t)off)
		s = (struct cfi_saved){ CFI_SAVED, s.base, (int16_t)off };
	else
		s.base = 0;
	return s;
}

static bool same(const struct cfi_rule *r, Dwarf_Frame *frame, bool signal)
{
	struct cfi_rule theirs = cfa_of(frame);
	bool no_caller = false;

	theirs.saved[CFI_RA] = saved_of(frame, X86_RA, &no_caller);
	if (no_caller)
		return r->kind == CFI_OUTER;
	if (theirs.kind == CFI_DAMAGED || theirs.saved[CFI_RA].how == CFI_LOST)
		return r->kind == CFI_DAMAGED;
	theirs.signal = signal;
	theirs.saved[CFI_FP] = saved_of(frame, X86_FP, &no_caller);
	theirs.saved[CFI_BX] = saved_of(frame, X86_BX, &no_caller);
	/* libdw 0.188 takes rax for rbx where it tells what callees keep */
	if (r->saved[CFI_BX].how == CFI_SAME && theirs.saved[CFI_BX].how == CFI_LOST)
		theirs.saved[CFI_BX].how = CFI_SAME;
	return !memcmp(&theirs, r, sizeof(theirs));
}

struct figures {
	size_t rows, same, beyond, differ;
};

static void compare(const struct cfi_table *t, Dwarf_CFI *cfi, uint64_t key, uint64_t vma,
		    struct figures *f)
{
	const struct cfi_rule *r = cfi_table_find(t, key);
	CLEANUP(free_ptr) Dwarf_Frame *frame = NULL;
	bool signal = false;

	if (dwarf_cfi_addrframe(cfi, vma, &frame)) {
		/* what nothing describes we may know all the same */
		f->rows += r->kind != CFI_NONE;
		f->beyond += r->kind != CFI_NONE;
		return;
	}
	f->rows++;
	dwarf_frame_info(frame, NULL, NULL, &signal);
	if (same(r, frame, signal)) {
		f->same++;
		return;
	}
	f->differ++;
	printf("differ %#" PRIx64 ": kind %u base %u off %d add %d\n", vma, r->kind,
	       r->base, r->off, r->add);
}

static void compare_file(const char *path)
{
	CLEANUP(strbuf_fini) struct strbuf bytes = { 0 };
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct cfi_table t;
	struct figures f = { 0 };
	struct err err = { 0 };
	Dwarf_CFI *cfi;
	Elf *elf;
	size_t nr;

	if (fd < 0 || cfi_compile_file(fd, &bytes, &err) ||
	    cfi_table_init(&t, bytes.data, bytes.len, &err))
		die(path, err.msg);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	if (!cfi || elf_getphdrnum(elf, &nr))
		die(path, "libdw finds nothing");
	for (size_t i = 0; i < nr; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD ||
		    !(p.p_flags & PF_X))
			continue;
		/* the first address of each row, and the last */
		for (size_t k = 0; k < t.nr; k++) {
			uint64_t into = t.keys[k] - p.p_offset;
			uint64_t end =
				k + 1 < t.nr ? t.keys[k + 1] - p.p_offset : into + 1;

			if (t.keys[k] < p.p_offset || into >= p.p_filesz)
				continue;
			compare(&t, cfi, t.keys[k], p.p_vaddr + into, &f);
			if (t.rules[t.numbers[k]].kind != CFI_NONE && end - into > 1)
				compare(&t, cfi, t.keys[k], p.p_vaddr + end - 1, &f);
		}
	}
	printf("%s: %zu rows, %zu the same, %zu undescribed, %zu differ\n", path, f.rows,
	       f.same, f.beyond, f.differ);
	dwarf_cfi_end(cfi);
	elf_end(elf);
}

int main(int argc, char **argv)
{
	elf_version(EV_CURRENT);
	for (int i = 1; i < argc; i++)
		compare_file(argv[i]);
	return 0;
}
