/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/undescribed.h"

#include <string.h>

#include "base/cleanup.h"

enum {
	ENTRY_ROOM = 128,
	/* code that is looked through for trampolines: vdso and small C libraries */
	MAX_SEARCHED = 1 << 20,
};

/*
 * Adds a rule for code of which nothing else is known, from @key on for up to @size
 * bytes: that of functions is not touched.
 */
static int add(struct cfi_rows *rows, uint64_t key, uint64_t size,
	       const struct cfi_rule *rule)
{
	uint64_t end;
	int rc;

	if (!size || __builtin_add_overflow(key, size, &end) || end > UINT32_MAX)
		return 0;
	vec_for(&rows->functions, f) {
		if (key >= f->start && key < f->end)
			return 0;
		if (f->start > key && f->start < end)
			end = f->start;
	}
	rc = cfi_rows_begin(rows, (uint32_t)key, (uint32_t)end);
	return rc ? rc : cfi_rows_add(rows, (uint32_t)key, rule);
}

/*
 * Where a program begins nothing has called it, and if nothing describes that code, as in
 * ld.so, this is why.
 */
static int add_entry(const struct cfi_elf *elf, struct cfi_rows *rows)
{
	const struct cfi_rule outer = { .kind = CFI_OUTER };
	uint64_t key, room;

	if (!elf->entry || !cfi_elf_offset(elf, elf->entry, &key, &room))
		return 0;
	return add(rows, key, room < ENTRY_ROOM ? room : ENTRY_ROOM, &outer);
}

/*
 * What signal handlers return to is known by its instructions where nothing describes it,
 * as in the kernel's vdso on arm64: "the number of sigreturn, system call".
 */
static const struct trampoline {
	enum cfi_machine machine;
	uint8_t code[9], size;
	uint8_t before; /* bytes before it that are its own: it is found by address - 1 */
} trampolines[] = {
	{ CFI_ARM64, { 0x68, 0x11, 0x80, 0xd2, 1, 0, 0, 0xd4 }, 8, 4 },
	{ CFI_X86_64, { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5 }, 9, 1 },
	{ CFI_X86_64, { 0xb8, 15, 0, 0, 0, 0x0f, 5 }, 7, 1 },
};

static int add_trampoline(const struct cfi_segment *s, const uint8_t *code,
			  const struct trampoline *t, struct cfi_rows *rows)
{
	const uint8_t *at = memmem(code, s->size, t->code, t->size);
	uint64_t off = at ? (uint64_t)(at - code) : 0;

	/* the first one is the one */
	if (off < t->before)
		return 0;
	return add(rows, s->off + off - t->before, (uint64_t)t->size + t->before,
		   &cfi_signal_rules[t->machine]);
}

static int add_trampolines(const struct cfi_elf *elf, struct cfi_rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < elf->nr_segments; i++) {
		const struct cfi_segment *s = &elf->segments[i];
		CLEANUP(free_ptr) void *code = NULL;

		if (s->size > MAX_SEARCHED)
			continue;
		rc = cfi_elf_code(elf, s, MAX_SEARCHED, &code);
		for (size_t j = 0; j < sizeof(trampolines) / sizeof(trampolines[0]); j++)
			if (code && !rc && trampolines[j].machine == elf->machine)
				rc = add_trampoline(s, code, &trampolines[j], rows);
	}
	return rc;
}

/*
 * Linkers describe the PLTs of x86-64 but those of static programs, and none of arm64's.
 * An entry is a jump, and on x86-64, in its last 5 bytes, one after a push.
 */
static const struct cfi_rule plt_rules[] = {
	[CFI_X86_64] = { .kind = CFI_PLT,
			 .base = CFI_BY_SP,
			 .off = 8,
			 .add = 11,
			 .saved = { [CFI_RA] = { CFI_SAVED, CFI_BY_CFA, -8 } } },
	[CFI_ARM64] = { .kind = CFI_PLAIN, .base = CFI_BY_SP },
};

static int add_plts(const struct cfi_elf *elf, struct cfi_rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < elf->nr_plts; i++) {
		const struct cfi_section *s = &elf->plts[i];
		uint64_t key, room;

		if (cfi_elf_offset(elf, s->vma, &key, &room))
			rc = add(rows, key, s->size < room ? s->size : room,
				 &plt_rules[elf->machine]);
	}
	return rc;
}

int cfi_add_undescribed(const struct cfi_elf *elf, struct cfi_rows *rows)
{
	int rc = elf->machine ? add_entry(elf, rows) : 0;

	if (!rc)
		rc = add_trampolines(elf, rows);
	return rc ? rc : add_plts(elf, rows);
}
