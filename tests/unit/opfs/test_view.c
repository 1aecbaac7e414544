/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/report/view.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/opfs/fake.h"

enum { ROWS = 4000, IMAGES = 3, LONG = 700 };

static struct fake f;
static struct profile p;
static struct profile_row rows[ROWS];
static uint64_t samples[ROWS];
static struct profile_class class;
static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* Names that are equal for a while: some end where others go on, some have bytes of all
 * kinds, some are equal for longer than is packed. */
static const char *make_name(void)
{
	static const unsigned char letters[] = "ab_\x80\xff";
	char *name = calloc(1, LONG + 16);
	size_t len = 0;

	cr_assert_not_null(name);
	if (draw(2))
		memset(name, 'x', len = draw(2) ? LONG : draw(20));
	for (uint32_t more = 1 + draw(10); more; more--)
		name[len++] = (char)letters[draw(5)];
	return name;
}

static void setup(void)
{
	static const char *const names[IMAGES] = { "/bin/b", "/lib/a", "/lib/c" };

	fake_init(&f);
	for (int i = 0; i < IMAGES; i++)
		fake_image(&f, names[i]);
	p = (struct profile){ .cat = &f.cat,
			      .nr_classes = 1,
			      .classes = &class,
			      .rows = rows,
			      .nr_rows = ROWS };
	p.images = calloc(IMAGES, sizeof(*p.images));
	for (int i = 0; i < ROWS; i++) {
		samples[i] = 1 + draw(3);
		rows[i] = (struct profile_row){ .app = 0,
						.image = draw(IMAGES),
						.samples = &samples[i],
						.name = make_name(),
						.vma = draw(1000) };
	}
}

static void teardown(void)
{
	for (int i = 0; i < ROWS; i++)
		free((char *)rows[i].name);
	free(p.images);
	fake_fini(&f);
}

TestSuite(view, .init = setup, .fini = teardown);

/* What comes first of two rows, key by key. */
static int compare(const struct profile_row *a, const struct profile_row *b,
		   const enum view_key *keys)
{
	int order = 0;

	for (; !order && *keys != VIEW_NR_KEYS; keys++)
		order = *keys == VIEW_BY_SAMPLES  ? view_compare(*b->samples, *a->samples)
			: *keys == VIEW_BY_VMA    ? view_compare(a->vma, b->vma)
			: *keys == VIEW_BY_SYMBOL ? strcmp(a->name, b->name)
						  : strcmp(f.cat.images[a->image].base,
							   f.cat.images[b->image].base);
	return order;
}

static void expect_order(struct view_options o, const enum view_key *keys)
{
	struct view v;

	for (int reverse = 0; reverse < 2; reverse++) {
		o.reverse = reverse;
		cr_assert_eq(view_init(&v, &p, &o), 0);
		cr_assert_eq(v.nr_rows, ROWS);
		for (size_t i = 1; i < v.nr_rows; i++) {
			int order = compare(v.rows[i - 1], v.rows[i], keys);

			cr_assert(reverse ? order >= 0 : order <= 0,
				  "row %zu: %s before %s", i, v.rows[i - 1]->name,
				  v.rows[i]->name);
		}
		view_fini(&v);
	}
}

Test(view, rows_are_by_samples_then_image_then_name_then_address)
{
	static const enum view_key keys[] = { VIEW_BY_SAMPLES, VIEW_BY_IMAGE,
					      VIEW_BY_SYMBOL, VIEW_BY_VMA, VIEW_NR_KEYS };

	expect_order((struct view_options){ 0 }, keys);
}

Test(view, rows_are_by_the_keys_that_are_named_then_by_the_others)
{
	static const enum view_key by_name[] = { VIEW_BY_SYMBOL, VIEW_BY_SAMPLES,
						 VIEW_BY_IMAGE, VIEW_BY_VMA,
						 VIEW_NR_KEYS };
	static const enum view_key by_vma[] = { VIEW_BY_VMA, VIEW_BY_SYMBOL,
						VIEW_BY_SAMPLES, VIEW_BY_IMAGE,
						VIEW_NR_KEYS };

	expect_order((struct view_options){ .nr_sort = 1, .sort = { VIEW_BY_SYMBOL } },
		     by_name);
	expect_order((struct view_options){ .nr_sort = 2,
					    .sort = { VIEW_BY_VMA, VIEW_BY_SYMBOL } },
		     by_vma);
}

Test(view, numbers_of_64_bits_are_in_order)
{
	static const enum view_key keys[] = { VIEW_BY_VMA, VIEW_BY_SAMPLES, VIEW_BY_IMAGE,
					      VIEW_BY_SYMBOL, VIEW_NR_KEYS };

	for (int i = 0; i < ROWS; i++) {
		rows[i].vma = draw(2) ? UINT64_MAX - draw(9) : draw(9);
		samples[i] = 1 + ((uint64_t)draw(4) << 60);
	}
	expect_order((struct view_options){ .nr_sort = 1, .sort = { VIEW_BY_VMA } },
		     keys);
}
