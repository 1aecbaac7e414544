/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libcfi base */
/*
 * A table of arbitrary bytes, and a stack that is unwound by it: nothing is read outside
 * of either, whatever they say.
 *
 *	u32 size of the table, the table, u64 registers[5], u8 flags, the stack
 */
#include "base/cleanup.h"
#include "libcfi/unwind.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_FRAMES = 128, CODE = 0x10000, CODE_SIZE = 0x100000 };

static void find(void *arg, uint64_t ip, struct cfi_code *out)
{
	out->unknown = ip - CODE >= CODE_SIZE && ip % 5 == 0;
	out->key = ip - CODE;
	out->table = ip % 7 ? arg : NULL;
}

static void unwind(struct cfi_table *t, const struct cfi_regs *regs, uint8_t flags,
		   const uint8_t *bytes, size_t size)
{
	const struct cfi_unwinder u = { .machine = flags & 1 ? CFI_ARM64 : CFI_X86_64,
					.pac_mask = flags & 2 ? 0x7full << 48 : 0,
					.find = find,
					.arg = t };
	const struct cfi_stack stack = { regs->sp, bytes, size, flags & 4 };
	struct cfi_frame frames[MAX_FRAMES];
	size_t nr, again;
	enum cfi_end end = cfi_unwind(&u, regs, &stack, frames, MAX_FRAMES, &nr);

	require(nr >= 1 && nr <= MAX_FRAMES);
	require(end <= CFI_END_FULL && (end != CFI_END_FULL || nr == MAX_FRAMES));
	require(frames[0].ip == regs->ip && frames[0].exact);
	/* fewer frames are the first of them */
	require(cfi_unwind(&u, regs, &stack, frames, nr / 2, &again) == CFI_END_FULL);
	require(again == nr / 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(free_ptr) uint8_t *table = NULL, *stack = NULL;
	struct cfi_regs regs;
	struct cfi_table t;
	uint32_t table_size;

	if (size < sizeof(table_size))
		return 0;
	memcpy(&table_size, data, sizeof(table_size));
	data += sizeof(table_size);
	size -= sizeof(table_size);
	if (table_size > size || size - table_size < sizeof(regs) + 1)
		return 0;
	/* on the heap, where sanitizers see what is read beyond */
	table = malloc(table_size + !table_size);
	require(table);
	memcpy(table, data, table_size);
	if (cfi_table_init(&t, table, table_size, NULL))
		return 0;
	data += table_size;
	size -= table_size + sizeof(regs) + 1;
	memcpy(&regs, data, sizeof(regs));
	data += sizeof(regs);
	stack = malloc(size + !size);
	require(stack);
	memcpy(stack, data + 1, size);
	unwind(&t, &regs, data[0], stack, size);
	return 0;
}
