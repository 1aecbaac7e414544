/* SPDX-License-Identifier: GPL-2.0-or-later */
/* links: libcfi base */
/*
 * Unwind information of arbitrary bytes, as an ELF file or, if the first byte is 1 or 2,
 * as a section of that machine, or, if it is 3, as pieces of code made at run time: what
 * is compiled of it is a sound table.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "libcfi/compile.h"
#include "libcfi/table.h"
#include "tests/fuzz/fuzz.h"

static void check(const struct strbuf *b)
{
	struct cfi_table t;
	struct err err = { 0 };

	require(!cfi_table_init(&t, b->data, b->len, &err));
	require(cfi_table_empty(&t) == !t.nr);
	for (size_t i = 0; i < t.nr; i++) {
		const struct cfi_rule *r = &t.rules[t.numbers[i]];

		require(cfi_table_find(&t, t.keys[i]) == r);
		require(i + 1 == t.nr || cfi_table_find(&t, t.keys[i + 1] - 1ull) == r);
	}
	/* code ends somewhere */
	require(!t.nr || t.numbers[t.nr - 1] == 0);
}

/* Where code is, in 9 bytes each; the last 64 bytes are the section of some. */
static void compile_made(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	const size_t section = size < 64 ? size : 64;
	struct cfi_made made[64] = { 0 };
	size_t nr = 0;

	for (size_t i = 0; i + 9 <= size && nr < 64; i += 9, nr++) {
		memcpy(&made[nr].start, data + i, 8);
		made[nr].start >>= data[i + 8] % 64;
		made[nr].size = data[i + 8];
		if (data[i + 8] & 16) {
			made[nr].frames = data + size - section;
			made[nr].frames_size = section;
		}
	}
	require(!cfi_compile_made(CFI_X86_64, made, nr, size << (size % 32), &out, NULL));
	check(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };
	CLEANUP(close_fd) int fd = -1;

	if (size && (data[0] == CFI_X86_64 || data[0] == CFI_ARM64)) {
		require(!cfi_compile_frames((enum cfi_machine)data[0], data + 1, size - 1,
					    0, &out, NULL));
		check(&out);
		return 0;
	}
	if (size && data[0] == 3) {
		compile_made(data + 1, size - 1);
		return 0;
	}
	fd = memfd_create("image", MFD_CLOEXEC);
	require(fd >= 0 && !file_write_all(fd, data, size));
	if (!cfi_compile_file(fd, &out, NULL))
		check(&out);
	else
		require(!out.len);
	return 0;
}
