/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "collector/who/maps.h"

static const char A[] = "a", B[] = "b";

static void add(struct coll_space **s, uint64_t start, uint64_t end, const char *label)
{
	struct coll_map m = {
		.start = start, .end = end, .file_off = start, .label = label
	};

	cr_assert_eq(coll_space_add(s, &m), 0);
}

static const char *at(struct coll_space *s, uint64_t addr)
{
	struct coll_map *m = coll_space_find(s, addr);

	return m ? m->label : "-";
}

Test(maps, holds_from_the_first_byte_to_the_last)
{
	struct coll_space *s = coll_space_new();

	add(&s, 0x1000, 0x2000, A);
	add(&s, 0x2000, 0x3000, B);
	cr_expect_str_eq(at(s, 0xfff), "-");
	cr_expect_str_eq(at(s, 0x1000), "a");
	cr_expect_str_eq(at(s, 0x1fff), "a");
	cr_expect_str_eq(at(s, 0x2000), "b");
	cr_expect_str_eq(at(s, 0x3000), "-");
	coll_space_put(s);
}

Test(maps, lets_a_new_mapping_end_what_it_overlaps)
{
	struct coll_space *s = coll_space_new();

	add(&s, 0x1000, 0x9000, A);
	add(&s, 0x3000, 0x5000, B);
	cr_expect_eq(s->nr, 3);
	cr_expect_str_eq(at(s, 0x2fff), "a");
	cr_expect_str_eq(at(s, 0x3000), "b");
	cr_expect_str_eq(at(s, 0x5000), "a");
	cr_expect_eq(coll_space_find(s, 0x5000)->file_off, 0x5000);
	add(&s, 0x0, 0x10000, B);
	cr_expect_eq(s->nr, 1);
	coll_space_put(s);
}

Test(maps, keeps_a_parents_space_when_the_child_changes_its_own)
{
	struct coll_space *parent = coll_space_new(), *child;

	add(&parent, 0x1000, 0x2000, A);
	child = coll_space_get(parent);
	add(&child, 0x1000, 0x2000, B);
	cr_expect_str_eq(at(parent, 0x1000), "a");
	cr_expect_str_eq(at(child, 0x1000), "b");
	coll_space_put(parent);
	cr_expect_str_eq(at(child, 0x1000), "b");
	coll_space_put(child);
}

Test(maps, agrees_with_a_table_of_bytes_for_random_mappings)
{
	enum { SIZE = 512, ROUNDS = 3000 };
	struct coll_space *s = coll_space_new();
	int owner[SIZE] = { 0 };
	static const char *labels[] = { "-", "1", "2", "3" };

	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		int from = rand() % (SIZE - 1),
		    to = from + 1 + rand() % (SIZE - from - 1);
		int who = 1 + rand() % 3;

		if (rand() % 4)
			to = to - from > 40 ? from + 40 : to;
		add(&s, (uint64_t)from, (uint64_t)to, labels[who]);
		for (int i = from; i < to; i++)
			owner[i] = who;
		for (int i = 0; i < SIZE; i++) {
			struct coll_map *m = coll_space_find(s, (uint64_t)i);

			cr_assert_str_eq(m ? m->label : "-", labels[owner[i]]);
			cr_assert(!m || m->file_off == m->start);
		}
		for (size_t i = 1; i < s->nr; i++)
			cr_assert_leq(s->maps[i - 1].end, s->maps[i].start);
	}
	coll_space_put(s);
}

Test(maps, accepts_no_space_at_all)
{
	coll_space_put(NULL);
	cr_expect_null(coll_space_get(NULL));
}
