/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libcfi/table.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/unit/libcfi/made.h"

static void make(struct made *m, size_t functions)
{
	made_common(m, "zR");
	for (size_t i = 0; i < functions; i++)
		made_function(m, 0x1000 + i * 0x40, 0x20 + (i & 1) * 0x20,
			      CODE(0x41, 0x0e, (uint8_t)(8 * (i % 8) + 16)));
	made_compile(m);
}

Test(table, finds_what_a_search_from_the_start_finds)
{
	CLEANUP(made_fini) struct made m = { 0 };
	const struct cfi_table *t = &m.table;

	for (size_t functions = 1; functions < 40; functions += 3) {
		make(&m, functions);
		for (uint64_t key = 0xff0; key < 0x1000 + 41 * 0x40; key++) {
			const struct cfi_rule *r = &t->rules[0];

			for (size_t i = 0; i < t->nr && t->keys[i] <= key; i++)
				r = &t->rules[t->numbers[i]];
			cr_assert_eq(cfi_table_find(t, key), r);
		}
		cr_expect_eq(cfi_table_find(t, UINT64_MAX), &t->rules[0]);
		made_fini(&m);
		m = (struct made){ 0 };
	}
}

Test(table, refuses_every_size_but_its_own)
{
	CLEANUP(made_fini) struct made m = { 0 };
	struct cfi_table t;
	struct err err;

	make(&m, 3);
	for (size_t size = 0; size < m.bytes.len; size++) {
		cr_expect_eq(cfi_table_init(&t, m.bytes.data, size, &err), -EINVAL);
		cr_expect(strstr(err.msg, "unwind table"), "%s", err.msg);
	}
}

/* A table with @size bytes at @off changed is refused, or can be searched. */
static bool accepts(const struct made *m, size_t off, uint64_t value, size_t size)
{
	CLEANUP(free_ptr) char *bytes = malloc(m->bytes.len);
	struct cfi_table t;

	cr_assert(bytes);
	memcpy(bytes, m->bytes.data, m->bytes.len);
	memcpy(bytes + off, &value, size);
	return !cfi_table_init(&t, bytes, m->bytes.len, NULL);
}

Test(table, refuses_what_would_lead_out_of_it)
{
	CLEANUP(made_fini) struct made m = { 0 };
	const char *bytes;
	size_t keys, numbers, rules;

	make(&m, 3);
	bytes = m.bytes.data;
	keys = (size_t)((const char *)m.table.keys - bytes);
	numbers = (size_t)((const char *)m.table.numbers - bytes);
	rules = (size_t)((const char *)m.table.rules - bytes);
	cr_expect(accepts(&m, 0, 'O', 1));
	cr_expect_not(accepts(&m, 0, 'o', 1));
	cr_expect_not(accepts(&m, offsetof(struct cfi_header, machine), 3, 4));
	cr_expect_not(accepts(&m, offsetof(struct cfi_header, nr_keys), UINT32_MAX, 4));
	cr_expect_not(accepts(&m, offsetof(struct cfi_header, nr_rules), 0, 4));
	cr_expect_not(accepts(&m, offsetof(struct cfi_header, shift), 32, 4));
	cr_expect_not(accepts(&m, keys, UINT32_MAX, 4)); /* not ascending */
	for (size_t i = 0; i <= m.table.nr_pages; i++) {
		size_t at = (size_t)((const char *)&m.table.index[i] - bytes);

		cr_expect_not(accepts(&m, at, m.table.index[i] + 1u, 4));
	}
	cr_expect_not(accepts(&m, numbers, UINT16_MAX, 2));
	cr_expect_not(accepts(&m, rules, CFI_OUTER, 1));
	rules += sizeof(struct cfi_rule);
	cr_expect_not(
		accepts(&m, rules + offsetof(struct cfi_rule, kind), CFI_NR_KINDS, 1));
	cr_expect_not(
		accepts(&m, rules + offsetof(struct cfi_rule, base), CFI_BY_CFA, 1));
	cr_expect_not(accepts(&m, rules + offsetof(struct cfi_rule, signal), 2, 1));
	cr_expect_not(
		accepts(&m, rules + offsetof(struct cfi_rule, saved), CFI_NR_HOW, 1));
	cr_expect_not(accepts(&m, rules + offsetof(struct cfi_rule, saved) + 1,
			      CFI_NR_BASES, 1));
}
