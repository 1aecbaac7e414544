/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>

#include "collector/store/waiting.h"

static uint64_t filed, filed_samples;
static const struct coll_image *last;

static void file(void *ctx, const struct coll_waiting_row *row)
{
	(void)ctx;
	filed += row->count.weight;
	filed_samples += row->count.samples;
	last = row->key.image;
}

static const struct coll_count one = { .weight = 1, .samples = 1 };

Test(waiting, counts_go_to_what_the_image_turned_out_to_be)
{
	struct coll_waiting w = { 0 };
	struct coll_image app = { .id = 1 }, other = { .id = 2 };
	struct coll_image first = { .id = 3, .pending = true };
	struct coll_image second = { .id = 4, .pending = true };
	struct coll_key a = { .app = &app, .image = &first };
	struct coll_key b = { .app = &second, .image = &app };

	cr_expect(coll_waiting_must(&a));
	for (int i = 0; i < 1000; i++)
		cr_assert_eq(coll_waiting_add(&w, &a, 64, &one), 0);
	cr_assert_eq(coll_waiting_add(&w, &b, 64, &one), 0);
	cr_expect_eq(w.rows.len, 2);
	cr_expect_eq(w.all.samples, 1001);
	first.pending = false;
	first.became = &other;
	coll_waiting_file(&w, file, NULL);
	cr_expect_eq(filed, 1000);
	cr_expect_eq(last, &other);
	cr_expect_eq(w.all.samples, 1);
	second.pending = false;
	coll_waiting_file(&w, file, NULL);
	cr_expect_eq(filed_samples, 1001);
	cr_expect_eq(w.rows.len, 0);
	coll_waiting_fini(&w);
}

Test(waiting, has_a_limit)
{
	struct coll_waiting w = { 0 };
	struct coll_image img = { .pending = true };
	struct coll_key key = { .app = &img, .image = &img };
	uint64_t at = 0;

	while (!coll_waiting_add(&w, &key, at, &one))
		at++;
	cr_expect_eq(w.all.samples, at);
	cr_expect_eq(coll_waiting_add(&w, &key, 0, &one), 0); /* no more room is needed */
	coll_waiting_fini(&w);
}
