/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/build_id.h"
#include "base/cleanup.h"

Test(build_id, build_ids_survive_text)
{
	struct build_id id = { 0 }, again = { 0 };
	char hex[BUILD_ID_TEXT];

	cr_assert_eq(build_id_parse("00ffa5DE", &id), 0);
	cr_expect_eq(id.len, 4);
	build_id_format(&id, hex);
	cr_expect_str_eq(hex, "00ffa5de");
	cr_assert_eq(build_id_parse(hex, &again), 0);
	cr_expect(build_id_equal(&id, &again));
	again.bytes[3] ^= 1;
	cr_expect(!build_id_equal(&id, &again));
}

Test(build_id, an_id_that_is_none_is_refused)
{
	struct build_id id = { .len = 3 };
	char longest[2 * BUILD_ID_MAX + 3] = { 0 };

	for (int i = 0; i < 2 * BUILD_ID_MAX + 2; i++)
		longest[i] = 'a';
	cr_expect_eq(build_id_parse("abc", &id), -EINVAL);
	cr_expect_eq(build_id_parse("zz", &id), -EINVAL);
	cr_expect_eq(build_id_parse(longest, &id), -EINVAL);
	cr_expect_eq(id.len, 3, "untouched on failure");
	cr_expect_eq(build_id_parse("", &id), 0);
	cr_expect_eq(id.len, 0);
}

Test(build_id, the_build_id_is_found_among_other_notes)
{
	static const char notes[] = "\4\0\0\0\3\0\0\0\1\0\0\0GNU\0abc\0" /* padded */
				    "\6\0\0\0\4\0\0\0\3\0\0\0Linux\0\0\0\1\2\3\4"
				    "\4\0\0\0\2\0\0\0\3\0\0\0GNU\0\xbe\xef\0\0";
	struct build_id id = { 0 };

	cr_assert(build_id_of_notes(notes, sizeof(notes) - 1, &id));
	cr_assert_eq(id.len, 2);
	cr_expect_eq(memcmp(id.bytes, "\xbe\xef", 2), 0);
	for (size_t len = 0; len < sizeof(notes) - 4; len++) {
		cr_expect(!build_id_of_notes(notes, len, &id), "cut at %zu", len);
	}
}

static const unsigned char note[] = { 4, 0, 0,   0,   3,   0, 0,    0,    3,   0,
				      0, 0, 'G', 'N', 'U', 0, 0xab, 0xcd, 0xef };

Test(build_id, finds_a_build_id_behind_other_notes)
{
	unsigned char two[20 + sizeof(note)] = { 4, 0, 0, 0, 4,   0,   0,   0,
						 1, 0, 0, 0, 'X', 'e', 'n', 0 };
	struct build_id id = { 0 };

	memcpy(two + 20, note, sizeof(note));
	cr_assert(build_id_of_notes(two, sizeof(two), &id));
	cr_expect_eq(id.len, 3);
	cr_expect_arr_eq(id.bytes, "\xab\xcd\xef", 3);
}

Test(build_id, stays_inside_notes_that_lie)
{
	unsigned char bad[sizeof(note)];
	struct build_id id;

	for (size_t len = 0; len < sizeof(note); len++) {
		CLEANUP(free_ptr) void *cut = malloc(len ? len : 1);

		memcpy(cut, note, len);
		cr_expect_not(build_id_of_notes(cut, len, &id), "%zu bytes", len);
	}
	for (int field = 0; field < 8; field += 4) {
		memcpy(bad, note, sizeof(bad));
		memset(bad + field, 0xff, 4);
		cr_expect_not(build_id_of_notes(bad, sizeof(bad), &id));
	}
}
