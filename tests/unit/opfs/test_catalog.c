/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "opfs/session/catalog.h"
#include "opfs/session/catalog_load.h"
#include "opfs/session/catalog_store.h"
#include "tests/unit/opfs/sessions.h"

enum { STRANGER = 60001 };

static struct sessions disk;
static struct catalog_store *store;
static struct catalog *a, *b, *c; /* what a test got */

static void setup(void)
{
	sessions_init(&disk);
	cr_assert_eq(catalog_store_new(disk.dir, NULL, &store, NULL), 0);
}

static void teardown(void)
{
	catalog_put(a);
	catalog_put(b);
	catalog_put(c);
	catalog_store_free(store);
	sessions_fini(&disk);
}

TestSuite(catalog, .init = setup, .fini = teardown);

static struct catalog *get(const char *one, const char *two)
{
	char *names[] = { (char *)one, (char *)two };
	struct catalog *got = NULL;
	struct err err = { 0 };

	cr_assert_eq(catalog_store_get(store, names, two ? 2 : 1, NULL, &got, &err), 0,
		     "%s", err.msg);
	return got;
}

/* Asks until the generation is another one; for at most two minutes. */
static struct catalog *get_changed(const char *name, uint64_t generation)
{
	struct catalog *now = get(name, NULL);

	for (int i = 0; i < 12000 && now->generation == generation; i++) {
		catalog_put(now);
		usleep(10000);
		now = get(name, NULL);
	}
	cr_assert_neq(now->generation, generation);
	return now;
}

Test(catalog, takes_no_more_memory_for_a_user_than_others_leave)
{
	enum { SOMEBODY = 60001, ANOTHER };
	struct err err = { 0 };

	a = get("current", NULL);
	b = catalog_borrow(a, 1);
	c = catalog_borrow(a, 1);
	cr_assert(b && c);
	b->arena.total = c->arena.total = 300 << 20;
	cr_expect_eq(catalog_charge(b, SOMEBODY, &err), 0);
	cr_expect_eq(catalog_charge(c, SOMEBODY, &err), -ENFILE);
	cr_expect(strstr(err.msg, "others leave for him"), "%s", err.msg);
	cr_expect_eq(catalog_charge(c, ANOTHER, &err), 0);
	/* until it is freed */
	catalog_put(TAKE(b));
	catalog_put(TAKE(c));
	c = catalog_borrow(a, 1);
	c->arena.total = 300 << 20;
	cr_expect_eq(catalog_charge(c, SOMEBODY, &err), 0);
}

Test(catalog, of_current_is_empty_before_anything_was_recorded)
{
	c = get("current", NULL);
	cr_expect_eq(c->nr_files, 0);
	cr_expect_eq(c->nr_dirs, 1);
	cr_expect_not(c->saved);
}

Test(catalog, of_another_session_that_is_absent_is_an_error)
{
	char *names[] = { (char *)"nosuch" };
	struct err err;

	cr_expect_eq(catalog_store_get(store, names, 1, NULL, &c, &err), -ENOENT);
	cr_expect(strstr(err.msg, "nosuch"), "%s", err.msg);
}

Test(catalog, knows_images_events_and_totals)
{
	sessions_add(&disk, (struct sessions_file){ .samples = 3 });
	sessions_add(&disk, (struct sessions_file){ .image = "/lib/x", .samples = 4 });
	sessions_add(&disk, (struct sessions_file){ .event = "EV2", .samples = 5 });
	c = get("current", NULL);
	cr_expect_eq(c->nr_files, 3);
	cr_expect_eq(c->nr_images, 2);
	cr_expect_eq(c->total, 12);
	cr_expect(map_get(&c->by_image, "x", 1, &(uint64_t){ 0 }));
	cr_expect(map_get(&c->by_image, "/bin/demo", 9, &(uint64_t){ 0 }));
	cr_expect(map_get(&c->by_event, "EV2", 3, &(uint64_t){ 0 }));
}

Test(catalog, of_two_sessions_has_the_files_of_both)
{
	sessions_add(&disk, (struct sessions_file){ .session = "a", .samples = 3 });
	sessions_add(&disk, (struct sessions_file){ .session = "b", .samples = 4 });
	c = get("a", "b");
	cr_expect_eq(c->nr_files, 2);
	cr_expect_eq(c->nr_images, 1);
	cr_expect_eq(c->total, 7);
	cr_expect(c->saved);
}

/* Gives a session, of which the mount's user is not the owner, too much to read: ever
 * more names of one file, each of which takes 4 KiB. */
static void make_too_large(const char *session)
{
	enum { LINKS = 18000, PART = 200 };
	char app[1960], dir[4000], from[PATH_MAX], to[PATH_MAX];
	struct stat st;

	for (size_t i = 0; i < sizeof(app); i++)
		app[i] = i % PART ? 'z' : '/';
	app[sizeof(app) - 1] = '\0';
	sessions_add(&disk, (struct sessions_file){
				    .session = session, .app = app, .samples = 1 });
	snprintf(dir, sizeof(dir), "samples/%s", session);
	if (!geteuid())
		cr_assert_eq(fchownat(disk.fd, dir, STRANGER, -1, 0), 0);
	snprintf(dir, sizeof(dir), "samples/%s/{root}%s/{dep}/{root}%s", session, app,
		 app);
	cr_assert_eq(fstatat(disk.fd, dir, &st, 0), 0);
	snprintf(from, sizeof(from), "%s/EV.1000.0.all.all.all", dir);
	for (int i = 0; i < LINKS; i++) {
		snprintf(to, sizeof(to), "%s/EV.1000.0.all.all.%d", dir, i);
		cr_assert_eq(linkat(disk.fd, from, disk.fd, to, 0), 0);
	}
}

/* A table of images, /bin/demo behind @others others. */
static void add_images(const char *session, int others)
{
	char path[64], text[8192] = "# opfs images 1\n", *at = text + strlen(text);

	for (int i = 0; i < others; i++)
		at += sprintf(at, "/bin/other%d\t/bin/other%d\t-\t1\t1\t-\t1\t-\n", i, i);
	sprintf(at, "/bin/demo\t/bin/demo\t-\t1\t1\t-\t1\t-\n");
	snprintf(path, sizeof(path), "samples/%s/images", session);
	sessions_write(&disk, path, text);
}

static bool is_row_of(const struct spec_images *t, const struct spec_image_row *row)
{
	return row >= t->rows && row < t->rows + t->nr;
}

Test(catalog, of_a_sum_without_a_session_that_is_too_large_borrows_nothing_freed)
{
	char *names[] = { (char *)"a", (char *)"b" };
	uid_t trusted = geteuid() + 1;
	struct given_up given_up;
	struct catalog_source from = { disk.fd, &trusted, &given_up };
	struct err err = { 0 };
	uint64_t demo;

	given_up_init(&given_up);
	sessions_add(&disk, (struct sessions_file){ .session = "a", .samples = 3 });
	add_images("a", 100);
	make_too_large("a");
	sessions_add(&disk, (struct sessions_file){ .session = "b", .samples = 4 });
	add_images("b", 0);
	cr_assert_eq(catalog_load(&from, names, 2, NULL, NULL, &c, &err), 0, "%s",
		     err.msg);
	cr_expect(c->dirs[0].given_up);
	cr_expect_eq(c->total, 4);
	cr_assert(map_get(&c->by_image, "/bin/demo", strlen("/bin/demo"), &demo));
	cr_expect(is_row_of(&c->dirs[0].rows, c->images[demo].row) ||
		  is_row_of(&c->dirs[1].rows, c->images[demo].row));
}

Test(catalog, names_a_damaged_file_and_keeps_the_others)
{
	sessions_add(&disk, (struct sessions_file){ .samples = 3 });
	sessions_write(&disk,
		       "samples/current/{root}/x/{dep}/{root}/x/EV.1.0.all.all.all",
		       "nonsense");
	sessions_write(&disk, "samples/current/{root}/x/{dep}/{root}/x/not-a-name", "");
	c = get("current", NULL);
	cr_expect_eq(c->total, 3);
	cr_expect_eq(c->nr_bad, 2);
	cr_expect(strstr(c->bad[0].path, "{root}/x"), "%s", c->bad[0].path);
}

Test(catalog, keeps_its_generation_while_nothing_changes)
{
	sessions_add(&disk, (struct sessions_file){ .samples = 3 });
	a = get("current", NULL);
	usleep(1100000); /* longer than a session without stats/live is trusted */
	b = get("current", NULL);
	cr_expect_eq(a->generation, b->generation);
}

Test(catalog, sees_samples_that_were_added_without_a_sign)
{
	sessions_add(&disk, (struct sessions_file){ .samples = 3 });
	a = get("current", NULL);
	sessions_add(&disk, (struct sessions_file){ .samples = 4 });
	b = get_changed("current", a->generation);
	cr_expect_eq(a->total, 3);
	cr_expect_eq(b->total, 7);
}

Test(catalog, follows_the_generations_of_a_live_session)
{
	sessions_add(&disk, (struct sessions_file){ .samples = 3 });
	sessions_live(&disk, 1, false);
	a = get("current", NULL);
	cr_expect(a->dirs[0].has_live);
	sessions_add(&disk, (struct sessions_file){ .samples = 4 });
	sessions_live(&disk, 2, false);
	b = get_changed("current", a->generation);
	cr_expect_eq(b->total, 7);
	sessions_live(&disk, 2, true);
	c = get_changed("current", b->generation);
	cr_expect(c->dirs[0].live.closed);
}

Test(catalog, sees_that_a_session_was_removed_and_made_again)
{
	char *names[] = { (char *)"s" };
	struct err err;
	int rc = 0;

	sessions_add(&disk, (struct sessions_file){ .session = "s", .samples = 3 });
	a = get("s", NULL);
	sessions_remove(&disk, "samples/s");
	for (int i = 0; i < 12000 && !rc; i++) {
		rc = catalog_store_get(store, names, 1, NULL, &b, &err);
		if (!rc)
			catalog_put(b);
		usleep(10000);
	}
	cr_expect_eq(rc, -ENOENT);
	cr_expect(strstr(err.msg, "removed"), "%s", err.msg);
	sessions_add(&disk, (struct sessions_file){ .session = "s", .samples = 5 });
	b = get_changed("s", a->generation);
	cr_expect_eq(a->total, 3);
	cr_expect_eq(b->total, 5);
}

Test(catalog, appears_when_current_does)
{
	a = get("current", NULL);
	sessions_add(&disk, (struct sessions_file){ .samples = 3 });
	b = get_changed("current", a->generation);
	cr_expect_eq(b->total, 3);
}

Test(catalog, is_ready_only_after_it_was_read)
{
	char *names[] = { (char *)"s" };

	sessions_add(&disk, (struct sessions_file){ .session = "s", .samples = 3 });
	cr_expect_not(catalog_store_ready(store, names, 1));
	catalog_put(get("s", NULL));
	cr_expect(catalog_store_ready(store, names, 1));
}

Test(catalog, outlives_its_place_in_the_store)
{
	struct catalog *first;

	for (int i = 0; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%d", i);
		sessions_add(&disk,
			     (struct sessions_file){ .session = name, .samples = 1 });
	}
	first = get("s0", NULL);
	for (int i = 1; i < 100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "s%d", i);
		catalog_put(get(name, NULL));
	}
	cr_expect_eq(first->total, 1);
	catalog_put(first);
}

Test(catalog, of_one_file_takes_the_name_from_its_path)
{
	char path[256];
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .samples = 9 });
	snprintf(path, sizeof(path),
		 "%s/samples/current/{root}/bin/demo/{dep}/{root}/bin/demo/"
		 "EV.1000.0.all.all.all",
		 disk.dir);
	cr_assert_eq(catalog_load_file(path, &c, &err), 0, "%s", err.msg);
	cr_expect_eq(c->total, 9);
	cr_expect_str_eq(c->images[0].shown, "/bin/demo");
	cr_expect_eq(catalog_load_file("/etc/passwd", &c, &err), -EINVAL);
}
