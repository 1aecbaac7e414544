/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "libsym/elf/plt.h"

/* Bytes and slots as objdump shows them. */
Test(plt, x86_entries_of_every_layout_are_recognised)
{
	static const uint8_t lazy[] = { 0xff, 0x25, 0xe2, 0x2f, 0, 0,
					0x68, 0,    0,    0,    0, 0xe9 };
	static const uint8_t ibt[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0x10, 0, 0, 0
	};
	static const uint8_t bnd[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff,
				       0x25, 0xf0, 0xff, 0xff, 0xff };
	static const uint8_t first[] = { 0xff, 0x35, 0xe2, 0x2f, 0, 0,
					 0xff, 0x25, 1,    0,    0, 0 };
	static const uint8_t push[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x68, 0, 0, 0, 0, 0xe9 };

	cr_expect_eq(sym_plt_slot_x86(lazy, sizeof(lazy), 0x1030), 0x1030 + 6 + 0x2fe2);
	cr_expect_eq(sym_plt_slot_x86(ibt, sizeof(ibt), 0x1000), 0x1000 + 10 + 0x10);
	cr_expect_eq(sym_plt_slot_x86(bnd, sizeof(bnd), 0x1000), 0x1000 + 11 - 0x10);
	cr_expect_eq(sym_plt_slot_x86(first, sizeof(first), 0x1000), 0);
	cr_expect_eq(sym_plt_slot_x86(push, sizeof(push), 0x1000), 0);
	cr_expect_eq(sym_plt_slot_x86(lazy, 5, 0x1030), 0);
	cr_expect_eq(sym_plt_slot_x86(lazy, 0, 0x1030), 0);
}

Test(plt, i386_entries_are_recognised)
{
	/* jmp *0xc(%ebx); jmp *0x804a00c; and the former behind endbr32 */
	static const uint8_t pic[] = { 0xff, 0xa3, 0x0c, 0, 0, 0, 0x68, 0 };
	static const uint8_t plain[] = { 0xff, 0x25, 0x0c, 0xa0, 0x04, 0x08 };
	static const uint8_t ibt[] = { 0xf3, 0x0f, 0x1e, 0xfb, 0xff,
				       0xa3, 0xfc, 0xff, 0xff, 0xff };

	cr_expect_eq(sym_plt_slot_i386(pic, sizeof(pic), 0x3ff4), 0x4000);
	cr_expect_eq(sym_plt_slot_i386(plain, sizeof(plain), 0), 0x804a00c);
	cr_expect_eq(sym_plt_slot_i386(ibt, sizeof(ibt), 0x3ff4), 0x3ff0);
	cr_expect_eq(sym_plt_slot_i386(pic, 5, 0x3ff4), 0);
}

Test(plt, aarch64_entries_are_recognised)
{
	/* adrp x16, 11000; ldr x17, [x16, #8] at 0x5d0 of a small PIE */
	static const uint8_t entry[] = { 0x90, 0, 0, 0xb0, 0x11, 0x06, 0x40, 0xf9 };
	/* the same one page down: adrp x16, .-0x1000 */
	static const uint8_t down[] = { 0xf0, 0xff, 0xff, 0xf0, 0x11, 0x06, 0x40, 0xf9 };
	static const uint8_t x15[] = { 0x8f, 0, 0, 0xb0, 0x11, 0x06, 0x40, 0xf9 };

	cr_expect_eq(sym_plt_slot_aarch64(entry, 8, 0x5d0), 0x11008);
	cr_expect_eq(sym_plt_slot_aarch64(down, 8, 0x25d0), 0x1008);
	cr_expect_eq(sym_plt_slot_aarch64(x15, 8, 0x5d0), 0);
	cr_expect_eq(sym_plt_slot_aarch64(entry, 7, 0x5d0), 0);
}
