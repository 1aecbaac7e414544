/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/ids.h"

static struct ids ids;
static struct err err;

static void expect(size_t nr, const uint32_t *want)
{
	cr_assert_eq(ids.len, nr);
	for (size_t i = 0; i < nr; i++)
		cr_expect_eq(ids.data[i], want[i]);
	ids_fini(&ids);
}

Test(ids, are_read_in_their_order_and_kept_once)
{
	cr_assert_eq(ids_parse(&ids, "4711,17,4711", "-p", &err), 0);
	cr_assert_eq(ids_parse(&ids, "1,17", "-p", &err), 0);
	cr_expect(ids_has(&ids, 1));
	cr_expect_not(ids_has(&ids, 2));
	expect(3, (const uint32_t[]){ 4711, 17, 1 });
}

Test(ids, of_cpus_may_be_ranges)
{
	cr_assert_eq(ids_parse_ranges(&ids, "2,4-6,0,5-7", "-C", &err), 0);
	expect(6, (const uint32_t[]){ 2, 4, 5, 6, 0, 7 });
	cr_assert_eq(ids_parse_ranges(&ids, "0-0", "-C", &err), 0);
	expect(1, (const uint32_t[]){ 0 });
}

Test(ids, say_which_word_is_none)
{
	static const struct {
		bool ranges;
		const char *text, *says;
	} rows[] = {
		{ false, "", "-x: \"\" is not a number from 1" },
		{ false, "1,", "-x: \"\"" },
		{ false, "0", "-x: \"0\"" },
		{ false, "1-3", "-x: \"1-3\"" },
		{ false, "2147483648", "-x: \"2147483648\"" },
		{ true, "3-1", "-x: \"1\" is not a number from 3" },
		{ true, "1-", "-x: \"\"" },
		{ true, "-1", "-x: \"\"" },
		{ true, "0-99999", "-x: \"99999\"" },
		{ true, "1-2-3", "-x: \"2-3\"" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int rc = rows[i].ranges ? ids_parse_ranges(&ids, rows[i].text, "-x", &err)
					: ids_parse(&ids, rows[i].text, "-x", &err);

		cr_expect_eq(rc, -EINVAL, "%s", rows[i].text);
		cr_expect(strstr(err.msg, rows[i].says), "%s", err.msg);
	}
	ids_fini(&ids);
}
