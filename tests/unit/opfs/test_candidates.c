/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "opfs/session/catalog_store.h"
#include "opfs/tree/candidates.h"
#include "opfs/tree/select.h"
#include "tests/unit/opfs/sessions.h"

/* Each application has its own code and libc, in two processes on two CPUs. */
enum { APPS = 40, PARTS = 2, TASKS = 2, CPUS = 2, FILES = APPS * PARTS * TASKS * CPUS };

static struct sessions disk;
static struct catalog_store *store;
static struct catalog *cat;

static void add_app(int app)
{
	char path[32];

	snprintf(path, sizeof(path), "/opt/app%d", app);
	for (int i = 0; i < PARTS * TASKS * CPUS; i++)
		sessions_add(&disk, (struct sessions_file){
					    .app = path,
					    .image = i % 2 ? "/lib/libc.so" : path,
					    .tgid = 100 + app * TASKS + i / 2 % 2,
					    .cpu = 1 + i / 4,
					    .samples = 1 });
}

static void setup(void)
{
	char *names[] = { (char *)"current" };

	sessions_init(&disk);
	for (int app = 0; app < APPS; app++)
		add_app(app);
	cr_assert_eq(catalog_store_new(disk.dir, NULL, &store, NULL), 0);
	cr_assert_eq(catalog_store_get(store, names, 1, NULL, &cat, NULL), 0);
	cr_assert_eq(cat->nr_flat, FILES);
}

static void teardown(void)
{
	catalog_put(cat);
	catalog_store_free(store);
	sessions_fini(&disk);
}

TestSuite(candidates, .init = setup, .fini = teardown);

struct given {
	enum spec_tag_id tag;
	const char *raw;
	bool exact;
};

static struct spec *spec_of(const struct given *given, size_t nr)
{
	char *names[] = { (char *)"current" };
	struct spec *spec = spec_new(names, 1);

	for (size_t i = 0; i < nr; i++) {
		CLEANUP(spec_value_putp) struct spec_value *v = NULL;
		struct spec *more;

		cr_assert_eq(spec_value_new(&spec_tags[given[i].tag], given[i].raw,
					    given[i].exact, &v, NULL),
			     0);
		more = spec_with(spec, &spec_tags[given[i].tag], v);
		cr_assert(more);
		spec_put(spec);
		spec = more;
	}
	return spec;
}

/* What a tag leaves of @of (NULL: of all), by a look at each; and how many files
 * candidates_find() gives. */
static size_t look(const struct given *given, size_t nr, struct selection *of,
		   struct selection *out)
{
	const struct ask a = { .probe = true };
	struct select_ctx ctx = { &a, cat };
	struct candidates some;
	struct spec_match match;
	struct spec_select by;
	CLEANUP(spec_putp) struct spec *spec = spec_of(given, nr);
	size_t nr_some, kept = 0;

	tree_match_init(&match, &ctx);
	cr_assert_eq(spec_select_init(&by, spec, &match, NULL, NULL), 0);
	cr_assert_eq(candidates_find(cat, &by, of, &some), 0);
	nr_some = some.nr;
	*out = (struct selection){ .files = calloc(FILES, sizeof(*out->files)) };
	for (uint32_t i = 0; i < FILES; i++) {
		const struct catalog_file *f = &cat->files[i];
		struct spec_match_file file = { .name = &f->name,
						.app = f->app,
						.image = f->image };
		bool was = !of;

		for (size_t k = 0; of && k < of->nr; k++)
			was |= of->files[k] == i;
		if (was && spec_select_file(&by, &file))
			out->files[out->nr++] = i;
	}
	/* all of these are candidates, in this order */
	for (size_t k = 0; k < some.nr && kept < out->nr; k++)
		kept += (some.files ? some.files[k] : k) == out->files[kept];
	cr_expect_eq(kept, out->nr, "%s:%s", spec_tags[given->tag].name, given->raw);
	spec_select_fini(&by);
	candidates_fini(&some);
	return nr_some;
}

Test(candidates, a_tag_that_selects_few_files_has_only_these_looked_at)
{
	static const struct {
		struct given given;
		size_t want;
	} rows[] = {
		{ { SPEC_IMAGE, "app7", true }, PARTS * TASKS * CPUS },
		{ { SPEC_IMAGE, "/opt/app7", false }, PARTS * TASKS * CPUS },
		{ { SPEC_IMAGE, "app7,app9", false }, 2 * PARTS * TASKS * CPUS },
		{ { SPEC_IMAGE, "app1?", false }, 10 * PARTS * TASKS * CPUS },
		{ { SPEC_LIB_IMAGE, "app7", true }, TASKS * CPUS },
		{ { SPEC_DEFAULT, "app7", true }, PARTS * TASKS * CPUS },
		{ { SPEC_TGID, "107", false }, PARTS * CPUS },
		{ { SPEC_TID, "107,108", false }, 2 * PARTS * CPUS },
		{ { SPEC_TGID, "99", false }, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct selection all;
		size_t nr = look(&rows[i].given, 1, NULL, &all);

		cr_expect_eq(nr, rows[i].want, "%s: %zu", rows[i].given.raw, nr);
		cr_expect_eq(all.nr, rows[i].want, "%s: %zu", rows[i].given.raw, all.nr);
		free(all.files);
	}
}

Test(candidates, a_tag_that_leaves_many_files_has_all_looked_at)
{
	static const struct given rows[] = { { SPEC_LIB_IMAGE, "libc.so", true },
					     { SPEC_IMAGE, "app*", false },
					     { SPEC_CPU, "1", false },
					     { SPEC_TGID, "all", false },
					     { SPEC_EVENT, "EV", true } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct selection all;

		cr_expect_eq(look(&rows[i], 1, NULL, &all), FILES, "%s", rows[i].raw);
		free(all.files);
	}
}

Test(candidates, of_a_selection_none_are_looked_at_that_it_has_not)
{
	static const struct given path[] = { { SPEC_IMAGE, "app1?", false },
					     { SPEC_TGID, "114,120,130", false },
					     { SPEC_CPU, "2", false } };
	struct selection was[3];
	size_t nr[3];

	for (size_t i = 0; i < 3; i++)
		nr[i] = look(path, i + 1, i ? &was[i - 1] : NULL, &was[i]);
	/* app10 to app19 have processes 120 to 139 */
	cr_expect_eq(nr[0], 10 * PARTS * TASKS * CPUS);
	cr_expect_eq(nr[1], 2 * PARTS * CPUS);
	cr_expect_eq(nr[2], was[1].nr);
	cr_expect_eq(was[2].nr, 2 * PARTS);
	for (size_t i = 0; i < 3; i++)
		free(was[i].files);
}
