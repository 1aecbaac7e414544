/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/cursor.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

Test(cursor, reads_little_endian_in_order_at_any_alignment)
{
	struct cursor c = cursor_init(bytes, sizeof(bytes));

	cr_expect_eq(cursor_u8(&c), 1);
	cr_expect_eq(cursor_u16(&c), 0x0302);
	cr_expect_eq(cursor_u32(&c), 0x07060504);
	cr_expect_eq(cursor_u64(&c), 0x0f0e0d0c0b0a0908);
	cr_expect_eq(cursor_left(&c), 0);
	cr_expect_not(c.bad);
}

Test(cursor, is_bad_for_good_once_it_ran_past_the_end)
{
	struct cursor c = cursor_init(bytes, 5);

	cr_expect_eq(cursor_u64(&c), 0);
	cr_expect(c.bad);
	cr_expect_eq(c.off, 0);
	cr_expect_eq(cursor_u8(&c), 0);
	cr_expect_null(cursor_bytes(&c, 0));
	cr_expect_null(cursor_str(&c));
	cr_expect_eq(cursor_left(&c), 0);
}

Test(cursor, refuses_lengths_that_would_overflow)
{
	struct cursor c = cursor_init(bytes, sizeof(bytes));

	cursor_skip(&c, 4);
	cr_expect_null(cursor_bytes(&c, SIZE_MAX));
	cr_expect(c.bad);
	c = cursor_init(bytes, sizeof(bytes));
	cursor_skip(&c, 4);
	cursor_skip(&c, SIZE_MAX - 3);
	cr_expect(c.bad);
}

Test(cursor, lends_bytes_in_place)
{
	struct cursor c = cursor_init(bytes, sizeof(bytes));

	cr_expect_eq(cursor_bytes(&c, 3), (const void *)bytes);
	cr_expect_eq(cursor_bytes(&c, 3), (const void *)(bytes + 3));
	cr_expect_not_null(cursor_bytes(&c, 0));
	cr_expect_eq(cursor_left(&c), sizeof(bytes) - 6);
}

Test(cursor, reads_strings_up_to_their_nul)
{
	struct cursor c = cursor_init("ab\0\0cd", 6);

	cr_expect_str_eq(cursor_str(&c), "ab");
	cr_expect_str_eq(cursor_str(&c), "");
	cr_expect_null(cursor_str(&c), "no NUL within the buffer");
	cr_expect(c.bad);
}

Test(cursor, of_no_bytes_is_bad_only_when_read)
{
	struct cursor c = cursor_init(NULL, 0);

	cr_expect_not_null(cursor_bytes(&c, 0));
	cr_expect_not(c.bad);
	cr_expect_null(cursor_str(&c));
	cr_expect(c.bad);
}
