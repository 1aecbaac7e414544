/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/spec/spec.h"

Test(tags, have_unique_names_and_a_doc)
{
	for (size_t i = 0; i < SPEC_NR_TAGS; i++) {
		cr_expect_eq(spec_tags[i].id, i);
		cr_expect(*spec_tags[i].doc);
		for (size_t k = i + 1; k < SPEC_NR_TAGS; k++)
			cr_expect_str_neq(spec_tags[i].name, spec_tags[k].name);
	}
	cr_expect_null(spec_tag_find("", 0));
	cr_expect_null(spec_tag_find("imag", 4));
	cr_expect_null(spec_tag_find("images", 6));
	cr_expect_eq(spec_tag_find("image:x", 5), &spec_tags[SPEC_IMAGE]);
}

Test(word, is_a_tag_only_up_to_the_first_colon)
{
	struct spec_word w;

	cr_assert(spec_word_parse("image", 5, &w));
	cr_expect(!w.colon && !w.value);
	cr_assert(spec_word_parse("image:", 6, &w));
	cr_expect(w.colon && !w.value);
	cr_assert(spec_word_parse("event:a:b", 9, &w));
	cr_expect_eq(w.tag->id, SPEC_EVENT);
	cr_expect_str_eq(w.value, "a:b");
	cr_expect_not(spec_word_parse("sortx:sample", 12, &w));
	cr_expect_not(spec_word_parse(":x", 2, &w));
	cr_expect_not(spec_word_parse("Image:x", 7, &w));
}

struct number_case {
	char text[28];
	bool any_base, good;
	uint64_t want;
};

static const struct number_case number_cases[] = {
	{ "0", false, true, 0 },
	{ "65", false, true, 65 },
	{ "065", false, true, 65 },
	{ "0x41", false, false, 0 },
	{ "0x41", true, true, 65 },
	{ "0X4a", true, true, 74 },
	{ "0101", true, true, 65 },
	{ "08", true, false, 0 },
	{ "0x", true, false, 0 },
	{ "", false, false, 0 },
	{ "1x", false, false, 0 },
	{ " 1", false, false, 0 },
	{ "+1", false, false, 0 },
	{ "-1", false, false, 0 },
	{ "18446744073709551615", false, true, UINT64_MAX },
	{ "18446744073709551616", false, false, 0 },
};

Test(number, is_strict)
{
	for (size_t i = 0; i < sizeof(number_cases) / sizeof(*number_cases); i++) {
		const struct number_case *c = &number_cases[i];
		uint64_t got = 0;

		cr_expect_eq(spec_number(c->text, c->any_base, &got), c->good, "%s",
			     c->text);
		cr_expect_eq(got, c->want, "%s", c->text);
	}
}

Test(value, of_numbers_is_refused_if_one_is_none)
{
	const struct spec_tag *cpu = &spec_tags[SPEC_CPU];
	struct spec_value *v;
	struct err err;

	cr_expect_eq(spec_value_new(cpu, "0,x", false, &v, &err), -EINVAL);
	cr_expect(strstr(err.msg, "\"x\" is not a number"), "%s", err.msg);
	cr_expect_eq(spec_value_new(cpu, "1,,2", false, &v, &err), -EINVAL);
	cr_assert_eq(spec_value_new(cpu, "1,2,", false, &v, &err), 0);
	cr_expect_eq(v->nr_numbers, 2);
	cr_expect_not(v->all);
	spec_value_put(v);
	cr_assert_eq(spec_value_new(cpu, "1,all", false, &v, &err), 0);
	cr_expect(v->all);
	spec_value_put(v);
}

Test(value, that_is_a_name_is_neither_list_nor_all)
{
	struct spec_value *v;

	cr_assert_eq(spec_value_new(&spec_tags[SPEC_EVENT], "all", true, &v, NULL), 0);
	cr_expect_not(v->all);
	cr_expect_str_eq(v->text, "all");
	spec_value_put(v);
}

static struct spec *with(struct spec *s, enum spec_tag_id id, const char *raw)
{
	CLEANUP(spec_value_putp) struct spec_value *v = NULL;
	struct spec *n;

	cr_assert_eq(spec_value_new(&spec_tags[id], raw, false, &v, NULL), 0);
	n = spec_with(s, &spec_tags[id], v);
	cr_assert(n);
	spec_put(s);
	return n;
}

Test(spec, reads_the_same_in_any_order_of_tags)
{
	CLEANUP(strbuf_fini) struct strbuf one = { 0 }, two = { 0 };
	char *sessions[] = { (char *)"b,1", (char *)"a" };
	CLEANUP(spec_putp) struct spec *s = spec_new(sessions, 1);
	CLEANUP(spec_putp) struct spec *t = spec_new(sessions, 1);

	s = with(with(s, SPEC_CPU, "1"), SPEC_IMAGE, "/bin/ls");
	t = with(with(t, SPEC_IMAGE, "/bin/ls"), SPEC_CPU, "1");
	spec_format(s, &one);
	spec_format(t, &two);
	cr_expect_str_eq(one.data, two.data);
	cr_expect_str_eq(one.data, "b%2C1/image:%2Fbin%2Fls/cpu:1");
}

Test(spec, of_several_sessions_is_a_sum)
{
	CLEANUP(strbuf_fini) struct strbuf text = { 0 };
	char *sessions[] = { (char *)"a", (char *)"b" };
	CLEANUP(spec_putp) struct spec *s = spec_new(sessions, 2);

	s = with(s, SPEC_DEFAULT, "libc.so.6");
	spec_format(s, &text);
	cr_expect_str_eq(text.data, "session:a,b/libc.so.6");
}

Test(spec, a_refinement_leaves_the_old_one_alone)
{
	char *sessions[] = { (char *)"current" };
	CLEANUP(spec_putp) struct spec *s = spec_new(sessions, 1);
	CLEANUP(spec_putp) struct spec *n = with(spec_get(s), SPEC_CPU, "1");

	cr_expect_null(s->values[SPEC_CPU]);
	cr_expect(n->values[SPEC_CPU]);
}
