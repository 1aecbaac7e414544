/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"

enum { MANY = 100000 };

static size_t make_key(char *key, uint64_t i)
{
	return (size_t)sprintf(key, "/usr/lib/lib%llu.so", (unsigned long long)i);
}

Test(map, finds_nothing_when_zeroed)
{
	struct map m = { 0 };
	struct map_u64 u = { 0 };
	size_t pos = 0;

	cr_expect_not(map_get(&m, "a", 1, NULL));
	cr_expect_not(map_del(&m, "a", 1));
	cr_expect_not(map_next(&m, &pos, NULL, NULL, NULL));
	cr_expect_not(map_u64_get(&u, 0, NULL));
	cr_expect_not(map_u64_del(&u, 0));
	cr_expect_not(map_u64_next(&u, &pos, NULL, NULL));
	map_fini(&m);
	map_u64_fini(&u);
}

Test(map, keeps_a_hundred_thousand_keys_through_deletes)
{
	CLEANUP(map_fini) struct map m = { 0 };
	char key[64];
	uint64_t value;

	for (uint64_t i = 0; i < MANY; i++)
		cr_assert_eq(map_set(&m, key, make_key(key, i), i), 0);
	cr_expect_eq(m.used, MANY);
	for (uint64_t i = 0; i < MANY; i += 2)
		cr_assert(map_del(&m, key, make_key(key, i)));
	for (uint64_t i = 0; i < MANY; i++) {
		bool found = map_get(&m, key, make_key(key, i), &value);

		cr_assert_eq(found, i % 2 == 1);
		cr_assert(!found || value == i);
	}
	cr_expect_eq(m.used, MANY / 2);
}

Test(map, replaces_the_value_of_a_key)
{
	CLEANUP(map_fini) struct map m = { 0 };
	uint64_t value = 0;

	map_set(&m, "k", 1, 1);
	map_set(&m, "k", 1, 2);
	cr_expect_eq(m.used, 1);
	cr_expect(map_get(&m, "k", 1, &value));
	cr_expect_eq(value, 2);
}

Test(map, tells_keys_apart_by_every_byte_and_by_length)
{
	CLEANUP(map_fini) struct map m = { 0 };
	uint64_t value = 0;

	map_set(&m, "", 0, 1);
	map_set(&m, "\0", 1, 2);
	map_set(&m, "\0\0", 2, 3);
	map_set(&m, "a\0b", 3, 4);
	map_set(&m, "a\0c", 3, 5);
	cr_expect_eq(m.used, 5);
	cr_expect(map_get(&m, "", 0, &value) && value == 1);
	cr_expect(map_get(&m, "\0", 1, &value) && value == 2);
	cr_expect(map_get(&m, "a\0c", 3, &value) && value == 5);
	cr_expect_not(map_get(&m, "a", 1, NULL));
}

Test(map, copies_its_keys)
{
	CLEANUP(map_fini) struct map m = { 0 };
	char key[] = "abc";

	map_set(&m, key, 3, 1);
	key[0] = 'x';
	cr_expect(map_get(&m, "abc", 3, NULL));
}

Test(map, does_not_grow_when_entries_come_and_go)
{
	CLEANUP(map_fini) struct map m = { 0 };
	CLEANUP(map_u64_fini) struct map_u64 u = { 0 };
	char key[64];

	for (uint64_t i = 0; i < MANY; i++) {
		cr_assert_eq(map_set(&m, key, make_key(key, i), i), 0);
		cr_assert(map_del(&m, key, make_key(key, i)));
		cr_assert_eq(map_u64_set(&u, i, i), 0);
		cr_assert(map_u64_del(&u, i));
	}
	cr_expect_leq(m.cap, 64);
	cr_expect_leq(u.cap, 64);
}

Test(map, iterates_over_each_entry_once)
{
	CLEANUP(map_fini) struct map m = { 0 };
	static bool seen[1000];
	size_t pos = 0, len, n = 0;
	const void *at;
	uint64_t value;
	char key[64];

	for (uint64_t i = 0; i < 1000; i++)
		map_set(&m, key, make_key(key, i), i);
	map_del(&m, key, make_key(key, 7));
	for (; map_next(&m, &pos, &at, &len, &value); n++) {
		cr_assert_eq(len, make_key(key, value));
		cr_assert_eq(memcmp(at, key, len), 0);
		cr_assert_not(seen[value]);
		seen[value] = true;
	}
	cr_expect_eq(n, 999);
	cr_expect_not(seen[7]);
}

Test(map, u64_keeps_a_hundred_thousand_keys_through_deletes)
{
	CLEANUP(map_u64_fini) struct map_u64 m = { 0 };
	size_t pos = 0, n = 0;
	uint64_t value, key;

	for (uint64_t i = 0; i < MANY; i++)
		cr_assert_eq(map_u64_set(&m, i << 12, i), 0);
	for (uint64_t i = 0; i < MANY; i += 3)
		cr_assert(map_u64_del(&m, i << 12));
	for (uint64_t i = 0; i < MANY; i++)
		cr_assert_eq(map_u64_get(&m, i << 12, &value), i % 3 != 0);
	for (; map_u64_next(&m, &pos, &key, &value); n++)
		cr_assert_eq(key, value << 12);
	cr_expect_eq(n, m.used);
}

Test(map, u64_takes_the_extreme_keys)
{
	CLEANUP(map_u64_fini) struct map_u64 m = { 0 };
	uint64_t value = 0;

	map_u64_set(&m, 0, 1);
	map_u64_set(&m, UINT64_MAX, 2);
	cr_expect(map_u64_get(&m, 0, &value) && value == 1);
	cr_expect(map_u64_get(&m, UINT64_MAX, &value) && value == 2);
}

Test(map, hash_depends_on_every_byte)
{
	char text[] = "0123456789abcdefghijklm";
	uint64_t before = map_hash(text, sizeof(text) - 1);

	cr_expect_eq(map_hash(text, sizeof(text) - 1), before);
	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		text[i] ^= 1;
		cr_expect_neq(map_hash(text, sizeof(text) - 1), before);
		text[i] ^= 1;
	}
	cr_expect_neq(map_hash(text, sizeof(text) - 2), before);
}
