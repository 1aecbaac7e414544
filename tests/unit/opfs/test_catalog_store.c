/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "opfs/session/catalog.h"
#include "opfs/session/catalog_store.h"
#include "tests/unit/opfs/sessions.h"

/* Whether a session was read again is seen from what became of its files meanwhile. */

#define OLD "2026-11-21T09-00-00Z"

static struct sessions disk;
static struct catalog_store *store;
static uint64_t generation;

/* "current" goes on, and a rotated session has 3 samples of /bin/demo. */
static void setup(void)
{
	generation = 1;
	sessions_init(&disk);
	sessions_add(&disk, (struct sessions_file){ .session = OLD, .samples = 3 });
	sessions_write(&disk, "samples/" OLD "/images", "# opfs images 1\n");
	sessions_write(&disk, "samples/" OLD "/stats/live", "1 1000000000 closed\n");
	sessions_live(&disk, generation, false);
	cr_assert_eq(catalog_store_new(disk.dir, NULL, &store, NULL), 0);
}

static void teardown(void)
{
	catalog_store_free(store);
	sessions_fini(&disk);
}

TestSuite(catalog_store, .init = setup, .fini = teardown);

static void seal(void)
{
	sessions_write(&disk, "samples/" OLD "/MANIFEST", "# opfs manifest 1\n");
}

static struct catalog *get(const char *const *names, size_t nr)
{
	struct catalog *c = NULL;
	struct err err = { 0 };

	cr_assert_eq(catalog_store_get(store, (char *const *)(uintptr_t)names, nr, NULL,
				       &c, &err),
		     0, "%s", err.msg);
	return c;
}

static struct catalog *load(void)
{
	return get((const char *[]){ OLD, "current" }, 2);
}

static struct catalog *load_old(void)
{
	return get((const char *[]){ OLD }, 1);
}

/* The sum of both after something happened in "current". */
static uint64_t total_now(void)
{
	struct catalog *c;
	uint64_t total;

	sessions_live(&disk, ++generation, false);
	/* another store asks at once, the same one after some time */
	for (;;) {
		c = load();
		if (c->dirs[1].live.generation == generation)
			break;
		catalog_put(c);
	}
	total = c->total;
	catalog_put(c);
	return total;
}

Test(catalog_store, a_sealed_session_is_read_once_whatever_goes_on_in_another)
{
	seal();
	cr_assert_eq(total_now(), 3);
	sessions_remove(&disk, "samples/" OLD "/{root}/bin");
	cr_expect_eq(total_now(), 3);
	sessions_add(&disk, (struct sessions_file){ .samples = 4 });
	cr_expect_eq(total_now(), 7);
}

Test(catalog_store, a_session_without_a_manifest_is_read_again)
{
	cr_assert_eq(total_now(), 3);
	sessions_remove(&disk, "samples/" OLD "/{root}/bin");
	cr_expect_eq(total_now(), 0);
}

Test(catalog_store, a_session_with_a_damaged_file_is_read_again)
{
	sessions_write(&disk,
		       "samples/" OLD "/{root}/bin/bad/{dep}/{root}/bin/bad/"
		       "EV.1000.0.all.all.all",
		       "garbage");
	seal();
	cr_assert_eq(total_now(), 3);
	sessions_remove(&disk, "samples/" OLD "/{root}/bin");
	cr_expect_eq(total_now(), 0);
}

Test(catalog_store, another_session_under_its_name_is_read)
{
	seal();
	cr_assert_eq(total_now(), 3);
	sessions_remove(&disk, "samples/" OLD);
	sessions_add(&disk, (struct sessions_file){ .session = OLD, .samples = 50 });
	sessions_write(&disk, "samples/" OLD "/stats/live", "1 1000000000 closed\n");
	seal();
	cr_expect_eq(total_now(), 50);
}

Test(catalog_store, a_remembered_session_is_the_same_in_a_sum)
{
	struct catalog *first, *again;

	sessions_add(&disk, (struct sessions_file){ .session = OLD,
						    .image = "/lib/x",
						    .tgid = 7,
						    .samples = 2 });
	sessions_write(&disk, "samples/" OLD "/tasks",
		       "# opfs tasks 1\n7\t7\t1\tname\t/bin/demo\t/\n");
	seal();
	first = load();
	cr_assert_eq(total_now(), 5);
	again = load();
	cr_assert_eq(again->nr_flat, first->nr_flat);
	cr_expect_eq(again->nr_images, first->nr_images);
	cr_expect_eq(again->drained_ns, first->drained_ns);
	for (size_t i = 0; i < first->nr_flat; i++) {
		const struct catalog_file *a = &first->files[i], *b = &again->files[i];
		struct spec_sample_reader r;

		cr_expect_str_eq(a->path, b->path);
		cr_expect_eq(a->total, b->total);
		cr_expect_eq(a->task == NULL, b->task == NULL);
		if (b->task)
			cr_expect_str_eq(b->task->comm, "name");
		cr_assert_eq(catalog_samples(again, b, &r, NULL), 0);
		spec_sample_fini(&r);
	}
	catalog_put(first);
	cr_expect_eq(again->nr_flat, 2); /* what it borrows lives on with it */
	catalog_put(again);
}

Test(catalog_store, that_is_doubted_looks_at_once)
{
	struct catalog *c = load();

	sessions_live(&disk, ++generation, false);
	catalog_store_doubt(store, c);
	catalog_put(c);
	c = load();
	cr_expect_eq(c->dirs[1].live.generation, generation);
	catalog_put(c);
}

/* Reads so many other sessions that the caches have no room for more. */
static void fill_caches(void)
{
	enum { MORE_THAN_ARE_KEPT = 70 };
	char name[16];

	for (int i = 0; i < MORE_THAN_ARE_KEPT; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		sessions_add(&disk,
			     (struct sessions_file){ .session = name, .samples = 1 });
		catalog_put(get((const char *[]){ name }, 1));
	}
}

Test(catalog_store, a_session_that_is_in_use_is_in_memory_once_however_it_is_read)
{
	struct catalog *first, *again, *sum;

	seal();
	first = load_old();
	sum = load();
	cr_expect_eq(sum->dirs[0].part, first);
	fill_caches();
	again = load_old();
	cr_expect_eq(again, first);
	catalog_put(first);
	catalog_put(again);
	catalog_put(sum);
	fill_caches();
	again = load_old(); /* nobody knew it any more */
	cr_expect_eq(again->total, 3);
	catalog_put(again);
}

Test(catalog_store, a_session_whose_tasks_were_closed_is_not_what_is_in_use)
{
	static const char tasks[] = "samples/" OLD "/tasks";
	struct catalog *first, *again;

	sessions_add(&disk,
		     (struct sessions_file){ .session = OLD, .tgid = 7, .samples = 1 });
	sessions_write(&disk, tasks, "# opfs tasks 1\n7\t7\t1\tname\t/bin/demo\t/\n");
	cr_assert_eq(fchmodat(disk.fd, tasks, 0644, 0), 0);
	seal();
	first = load_old();
	cr_assert_eq(fchmodat(disk.fd, tasks, 0600, 0), 0);
	fill_caches();
	again = load_old();
	cr_expect_eq(first->dirs[0].tasks.file.st_mode & 0777, 0644);
	cr_expect_eq(again->dirs[0].tasks.file.st_mode & 0777, 0600);
	catalog_put(first);
	catalog_put(again);
}

Test(catalog_store, a_session_that_changed_is_not_what_is_in_use)
{
	struct catalog *first = load_old(), *again;

	fill_caches();
	sessions_add(&disk, (struct sessions_file){ .session = OLD, .samples = 1 });
	again = load_old();
	cr_expect_eq(first->total, 3);
	cr_expect_eq(again->total, 4);
	cr_expect_neq(again->generation, first->generation);
	catalog_put(first);
	catalog_put(again);
}

static unsigned nr_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	cr_assert_not_null(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

static bool is_ready(const char *const *names, size_t nr)
{
	struct catalog *c =
		catalog_store_ready(store, (char *const *)(uintptr_t)names, nr);

	catalog_put(c);
	return c;
}

Test(catalog_store, gives_back_what_it_kept_of_a_session_and_of_its_sums)
{
	unsigned before = nr_descriptors(), with_current;
	static const char *const both[] = { OLD, "current" };

	seal();
	catalog_put(get(&both[1], 1));
	with_current = nr_descriptors();
	cr_assert_gt(with_current, before);
	catalog_put(load_old());
	catalog_put(load());
	cr_assert_gt(nr_descriptors(), with_current);
	catalog_store_forget(store, "another");
	cr_expect(is_ready(both, 2));
	catalog_store_forget(store, OLD);
	cr_expect_not(is_ready(both, 2));
	cr_expect(is_ready(&both[1], 1));
	cr_expect_eq(nr_descriptors(), with_current);
	catalog_store_forget(store, "current");
	cr_expect_eq(nr_descriptors(), before);
}

Test(catalog_store, knows_which_sessions_a_sum_is_of)
{
	static const char *const all[] = { OLD, "a", "b", "b.1", "current" };
	struct catalog *sum;

	for (int i = 1; i < 4; i++)
		sessions_add(&disk,
			     (struct sessions_file){ .session = all[i], .samples = 1 });
	sum = get(all, 5);
	for (int i = 0; i < 5; i++)
		cr_expect(catalog_is_of(sum, all[i]), "%s", all[i]);
	for (const char *const *other = (const char *const[]){ "", "A", "b.", "d", NULL };
	     *other; other++)
		cr_expect_not(catalog_is_of(sum, *other), "%s", *other);
	catalog_put(sum);
}

Test(catalog_store, what_is_in_use_of_a_session_that_has_gone_lives_on)
{
	struct catalog *sum;
	struct spec_sample_reader r;

	seal();
	sum = load();
	catalog_store_forget(store, OLD);
	cr_assert_eq(sum->total, 3);
	cr_assert_eq(catalog_samples(sum, &sum->files[0], &r, NULL), 0);
	spec_sample_fini(&r);
	catalog_put(sum);
}
