/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/pb.h"

#include <criterion/criterion.h>
#include <string.h>

static struct strbuf out;

static void teardown(void)
{
	strbuf_fini(&out);
}

TestSuite(pb, .fini = teardown);

static void expect(const char *bytes, size_t len)
{
	cr_expect_eq(out.len, len, "%zu bytes", out.len);
	cr_expect(out.len == len && !memcmp(strbuf_str(&out), bytes, len));
	strbuf_reset(&out);
}

Test(pb, varints_are_seven_bits_a_byte_lowest_first)
{
	static const struct {
		uint64_t v;
		const char *bytes;
		size_t len;
	} rows[] = {
		{ 0, "\0", 1 },
		{ 1, "\1", 1 },
		{ 127, "\x7f", 1 },
		{ 128, "\x80\x01", 2 },
		{ 300, "\xac\x02", 2 },
		{ 16383, "\xff\x7f", 2 },
		{ 16384, "\x80\x80\x01", 3 },
		{ 1ull << 63, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 10 },
		{ UINT64_MAX, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		pb_varint(&out, rows[i].v);
		expect(rows[i].bytes, rows[i].len);
	}
}

Test(pb, a_number_is_its_field_and_a_varint_and_zero_is_nothing)
{
	pb_number(&out, 1, 150);
	expect("\x08\x96\x01", 3);
	pb_number(&out, 14, 2);
	expect("\x70\x02", 2);
	pb_number(&out, 16, 2); /* the field itself takes two bytes */
	expect("\x80\x01\x02", 3);
	pb_number(&out, 3, 0);
	expect("", 0);
}

Test(pb, bytes_are_their_field_a_length_and_themselves)
{
	char many[200];

	pb_bytes(&out, 2, "testing", 7);
	expect("\x12\x07testing", 9);
	pb_bytes(&out, 6, NULL, 0);
	expect("\x32\x00", 2);
	memset(many, 'x', sizeof(many));
	pb_bytes(&out, 6, many, sizeof(many));
	cr_expect_eq(out.len, 3 + sizeof(many));
	cr_expect_eq(memcmp(out.data, "\x32\xc8\x01", 3), 0);
}

Test(pb, a_message_without_memory_is_not_left_out_silently)
{
	struct strbuf inner = { .failed = true };

	pb_message(&out, 1, &inner);
	cr_expect(strbuf_error(&out));
}
