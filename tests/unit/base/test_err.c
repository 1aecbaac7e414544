/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"

static struct err e;

Test(err, returns_the_code_and_keeps_both)
{
	cr_expect_eq(err_set(&e, -ENODATA, "%s: no samples", "run1"), -ENODATA);
	cr_expect_eq(e.code, -ENODATA);
	cr_expect_str_eq(e.msg, "run1: no samples");
}

Test(err, may_be_absent)
{
	cr_expect_eq(err_set(NULL, -EINVAL, "x"), -EINVAL);
	cr_expect_eq(err_add(NULL, -EIO, "x"), -EIO);
	cr_expect_eq(err_errno(NULL, -ENOENT, "x"), -ENOENT);
}

Test(err, puts_context_in_front)
{
	err_set(&e, -EBADMSG, "header cut short");
	cr_expect_eq(err_add(&e, -EBADMSG, "samples/%d", 7), -EBADMSG);
	cr_expect_str_eq(e.msg, "samples/7: header cut short");
}

Test(err, context_of_an_empty_message_is_the_message)
{
	err_add(&e, -EIO, "only this");
	cr_expect_str_eq(e.msg, "only this");
}

Test(err, names_the_system_error)
{
	cr_expect_eq(err_errno(&e, -ENOENT, "/nowhere"), -ENOENT);
	cr_expect_str_eq(e.msg, "/nowhere: No such file or directory");
}

Test(err, may_be_built_from_its_own_message)
{
	err_set(&e, -EIO, "inner");
	err_set(&e, -EIO, "[%s]", e.msg);
	cr_expect_str_eq(e.msg, "[inner]");
	err_add(&e, -EIO, "%s", e.msg);
	cr_expect_str_eq(e.msg, "[inner]: [inner]");
}

Test(err, cuts_a_long_message_with_dots)
{
	char text[5000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, -EIO, "%s", text);
	cr_expect_eq(strlen(e.msg), sizeof(e.msg) - 1);
	cr_expect_str_eq(e.msg + sizeof(e.msg) - 5, "x...");
	err_add(&e, -EIO, "%s", text);
	cr_expect_str_eq(e.msg + sizeof(e.msg) - 5, "x...");
}

Test(err, keeps_a_message_that_just_fits)
{
	char text[sizeof(e.msg)];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&e, -EIO, "%s", text);
	cr_expect_str_eq(e.msg, text);
	err_add(&e, -EIO, "a");
	cr_expect(strstr(e.msg, "x..."));
	cr_expect_eq(strncmp(e.msg, "a: x", 4), 0);
}

Test(err, cuts_no_character_in_two)
{
	char text[1025];

	for (int i = 0; i < 1024; i += 2)
		memcpy(text + i, "\xc3\xa4", 2);
	text[1024] = '\0';
	err_set(&e, -EIO, "%s", text);
	cr_expect_str_eq(e.msg + strlen(e.msg) - 5, "\xc3\xa4...");
	err_set(&e, -EIO, "1%s", text);
	cr_expect_str_eq(e.msg + strlen(e.msg) - 5, "\xc3\xa4...");
}

Test(err, stays_one_line_whatever_a_file_is_called)
{
	err_set(&e, -EIO, "a\nb\x1b[31m\x7f");
	cr_expect_str_eq(e.msg, "a?b?[31m?");
}
