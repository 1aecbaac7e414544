/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "base/cleanup.h"
#include "base/hex.h"

Test(hex, pads_numbers_to_a_width_and_never_cuts_them)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	hex_add_number(&out, 0, 0, ' ');
	hex_add_number(&out, 0x12ab, 6, ' ');
	hex_add_number(&out, 0x12ab, 8, '0');
	hex_add_number(&out, 0x123, 2, ' ');
	hex_add_number(&out, UINT64_MAX, 40, ' ');
	cr_expect_str_eq(strbuf_str(&out), "0  12ab000012ab123ffffffffffffffff");
}

Test(hex, gives_two_digits_a_byte)
{
	CLEANUP(strbuf_fini) struct strbuf out = { 0 };

	hex_add(&out, "\x00\xa0\x0f", 3);
	cr_expect_str_eq(strbuf_str(&out), "00a00f");
	cr_expect_eq(hex_digit('f'), 15);
	cr_expect_eq(hex_digit('A'), 10);
	cr_expect_eq(hex_digit('g'), -1);
}
