/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/export/callgrind.h"

#include <criterion/criterion.h>

#include "opfs/profile/recursion.h"

static struct strbuf out;
static struct callgrind c;

static void setup(void)
{
	c.nr_columns = 1;
}

static void teardown(void)
{
	strbuf_fini(&out);
	callgrind_fini(&c);
}

TestSuite(callgrind, .init = setup, .fini = teardown);

static uint32_t function(const char *name, uint32_t image, const char *object)
{
	uint32_t number;

	cr_assert_eq(callgrind_function(&c, name, image, object, 0x1000, &number), 0);
	return number;
}

static void add(uint32_t from, uint32_t callee, uint64_t address, size_t column,
		uint64_t value)
{
	cr_assert_eq(callgrind_add(&c, from, callee, address, column, value), 0);
}

static void expect(const char *text)
{
	cr_assert_eq(callgrind_write(&c, &out), 0);
	cr_expect_str_eq(strbuf_str(&out), text);
}

Test(callgrind, names_of_events_are_letters_digits_and_underscores)
{
	static const char *const rows[][2] = {
		{ "CPU_CLK_UNHALTED", "CPU_CLK_UNHALTED" },
		{ "LLC:6000:0x41", "LLC_6000_0x41" },
		{ "9lives", "_9lives" },
		{ "", "_" },
		{ "a b\n\xff", "a_b__" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strbuf_reset(&out);
		callgrind_event(&out, rows[i][0]);
		cr_expect_str_eq(strbuf_str(&out), rows[i][1]);
	}
}

Test(callgrind, costs_of_one_address_add_up_own_ones_come_before_calls)
{
	uint32_t main_ = function("main", 0, "/bin/x");
	uint32_t lex = function("lex", 1, "/lib/y");

	c.nr_columns = 2;
	add(main_, lex, 0x20, 1, 7);
	add(main_, CALLGRIND_SELF, 0x18, 0, 1);
	add(main_, CALLGRIND_SELF, 0x10, 0, 2);
	add(main_, CALLGRIND_SELF, 0x10, 0, 3);
	add(main_, CALLGRIND_SELF, 0x10, 1, 4);
	add(lex, CALLGRIND_SELF, 0x1001, 1, 7);
	expect("\nob=(1) /bin/x\nfl=(1) ???\nfn=(1) main\n0x10 5 4\n0x18 1 0\n"
	       "cob=(2) /lib/y\ncfn=(2) lex\ncalls=7 0x1000\n0x20 0 7\n"
	       "\nob=(2)\nfl=(1)\nfn=(2)\n0x1001 0 7\n");
}

Test(callgrind, names_that_read_as_numbers_of_names_stand_behind_a_number)
{
	uint32_t one = function("(2)", 0, "(1) x"), two = function(" b\n", 0, "(1) x");

	cr_expect_neq(one, two);
	add(one, two, 0x20, 0, 1);
	add(two, CALLGRIND_SELF, 0x30, 0, 1);
	expect("\nob=(1) (1) x\nfl=(1) ???\nfn=(1) (2)\ncfn=(2) _b_\ncalls=1 0x1000\n"
	       "0x20 1\n\nob=(1)\nfl=(1)\nfn=(2)\n0x30 1\n");
}

Test(callgrind, functions_of_one_name_tell_their_image_if_there_are_several)
{
	uint32_t one = function("main", 0, "/bin/x"), two = function("main", 1, "/bin/y");

	cr_expect_neq(one, two);
	cr_expect_eq(one, function("main", 0, "/bin/x"));
	add(one, CALLGRIND_SELF, 0x10, 0, 1);
	add(two, CALLGRIND_SELF, 0x10, 0, 2);
	expect("\nob=(1) /bin/x\nfl=(1) ???\nfn=(1) main [/bin/x]\n0x10 1\n"
	       "\nob=(2) /bin/y\nfl=(1)\nfn=(2) main [/bin/y]\n0x10 2\n");
}

Test(callgrind, a_function_that_is_only_called_has_its_object)
{
	uint32_t one = function("main", 0, "/bin/x"), two = function("lex", 1, "/lib/y");

	add(one, two, 0x10, 0, 1);
	expect("\nob=(1) /bin/x\nfl=(1) ???\nfn=(1) main\ncob=(2) /lib/y\ncfn=(2) lex\n"
	       "calls=1 0x1000\n0x10 1\n\nob=(2)\nfl=(1)\nfn=(2)\n");
}

Test(callgrind, a_frame_recurs_if_its_function_is_above_it_and_only_there)
{
	/* a: [1] > b [2] > a [4] > b [6]; a [1] > c [3] > b [5]; a second root, b [7] */
	enum { A, B, C };
	struct profile_frame frames[8] = {
		[1] = { .parent = 0, .func = A }, [2] = { .parent = 1, .func = B },
		[3] = { .parent = 1, .func = C }, [4] = { .parent = 2, .func = A },
		[5] = { .parent = 3, .func = B }, [6] = { .parent = 4, .func = B },
		[7] = { .parent = 0, .func = B },
	};
	const struct profile_stacks s = { .frames = frames, .nr_frames = 8 };
	const uint32_t apart[] = { 0, 1, 2 }, joined[] = { 0, 1, 1 };
	const uint8_t want[2][8] = { { [4] = 1, [6] = 1 },
				     { [4] = 1, [5] = 1, [6] = 1 } };
	uint8_t again[8] = { 0 };

	cr_assert_eq(recursion_find(&s, apart, 3, again), 0);
	cr_expect_arr_eq(again, want[0], 8);
	cr_assert_eq(recursion_find(&s, joined, 2, again), 0); /* c counts as b */
	cr_expect_arr_eq(again, want[1], 8);
}

Test(callgrind, no_frames_have_no_recursion)
{
	struct profile_frame none = { 0 };
	const struct profile_stacks s = { .frames = &none, .nr_frames = 1 };
	uint8_t again = 7;

	cr_assert_eq(recursion_find(&s, NULL, 0, &again), 0);
	cr_expect_eq(again, 7);
}
