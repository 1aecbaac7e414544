/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <criterion/criterion.h>

Test(json, puts_commas_between_and_nowhere_else)
{
	struct strbuf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, '{');
	json_key(&j, "none");
	json_open(&j, '[');
	json_close(&j, ']');
	json_key(&j, "list");
	json_open(&j, '[');
	json_number(&j, 18446744073709551615u);
	json_bool(&j, false);
	json_string(&j, NULL);
	json_open(&j, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_line(&j);
	json_key(&j, "at");
	json_address(&j, 0xffffffff81000000u);
	json_line(&j);
	json_close(&j, '}');
	cr_expect_str_eq(
		strbuf_str(&out),
		"{\"none\": [], \"list\": [18446744073709551615, false, null, {}],\n"
		"\"at\": \"0xffffffff81000000\"\n}");
	strbuf_fini(&out);
}

Test(json, writes_numbers_that_are_numbers)
{
	static const double numbers[] = { 0, 100, 1e-9, 33.333333333, -0.5, 1e300 };
	struct strbuf out = { 0 };
	struct json j = { .out = &out };

	json_open(&j, '[');
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_real(&j, numbers[i]);
	json_close(&j, ']');
	cr_expect_str_eq(strbuf_str(&out), "[0, 100, 1e-09, 33.3333333, -0.5, 1e+300]");
	strbuf_fini(&out);
}
