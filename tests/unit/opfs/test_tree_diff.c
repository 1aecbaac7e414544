/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "tests/unit/opfs/places.h"

TestSuite(diff, .init = places_init, .fini = places_fini);

static uint64_t older(const char *path)
{
	struct place p = walk(path);
	uint64_t n;

	cr_assert(p.base, "%s", path);
	n = place_samples(&p.base->p);
	place_fini(&p);
	return n;
}

static void two_sessions(void)
{
	sessions_add(&disk, (struct sessions_file){
				    .session = "old", .app = "/bin/a", .samples = 1 });
	sessions_add(&disk, (struct sessions_file){
				    .session = "old", .app = "/bin/b", .samples = 2 });
	sessions_add(&disk, (struct sessions_file){ .app = "/bin/a", .samples = 4 });
	sessions_add(&disk, (struct sessions_file){ .app = "/bin/c", .samples = 8 });
	open_tree(false);
}

Test(diff, diff_compares_with_the_same_selection_of_another_session)
{
	struct err err;

	two_sessions();
	cr_expect_eq(samples("current/diff:old"), 12);
	cr_expect_eq(older("current/diff:old"), 3);
	cr_expect_eq(samples("current/image:a/diff:old"), 4);
	cr_expect_eq(older("current/image:a/diff:old"), 1);
	cr_expect_eq(older("current/image:/bin/a/diff:/old"), 1);
	cr_expect_eq(fails("current/image:c/diff:old", &owner, &err), -ENOENT);
	cr_expect(strstr(err.msg, "older side") && strstr(err.msg, "old"), "%s", err.msg);
	cr_expect_eq(fails("current/diff:nosuch", &owner, &err), -ENOENT);
	cr_expect_eq(text_of("current/image:a/diff:old/report", &owner, &err), 0, "%s",
		     err.msg);
	cr_expect(lists("current/diff:", "old"));
	cr_expect_not(lists("current/diff:old", "details"));
}

Test(diff, a_tag_behind_diff_replaces_the_one_before_it)
{
	two_sessions();
	cr_expect_eq(samples("current/image:a/diff:old/image:b"), 4);
	cr_expect_eq(older("current/image:a/diff:old/image:b"), 2);
	cr_expect_eq(older("current/image:a/diff:old/image:/bin/b"), 2);
	cr_expect_eq(older("current/image:a/diff:old/image:all"), 3);
	cr_expect_eq(older("current/diff:old/image/b"), 2);
	cr_expect_eq(older("current/diff:old/b"), 2);
	cr_expect(lists("current/image:a/diff:old/image:", "b"));
	cr_expect_eq(fails("current/diff:old/image:a/image:b", &owner, NULL), -ENOENT);
	cr_expect_eq(fails("current/diff:old/image:c", &owner, NULL), -ENOENT);
}

Test(diff, the_path_of_a_place_with_two_sides_means_the_same_place)
{
	static const char *const paths[] = {
		"current/image:a/diff:old",
		"current/image:a/diff:old/image:/bin/b",
		"current/image:a/diff:old/image:all/sort:diff",
		"current/diff:old,current/image:a",
		"current/with:no-header/diff:old/demangle:none",
	};

	two_sessions();
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		CLEANUP(strbuf_fini) struct strbuf path = { 0 };
		struct place p = walk(paths[i]);

		place_format(&p, &path);
		place_fini(&p);
		cr_expect_eq(samples(paths[i]), samples(strbuf_str(&path)));
		cr_expect_eq(older(paths[i]), older(strbuf_str(&path)), "%s: %s",
			     paths[i], strbuf_str(&path));
	}
}

Test(diff, diff_takes_the_path_of_a_session_directory)
{
	struct sessions other;
	char path[1024], escaped[2048];
	struct strbuf listed = { 0 };

	two_sessions();
	sessions_init(&other);
	sessions_add(&other, (struct sessions_file){
				     .session = "s", .app = "/bin/a", .samples = 16 });
	spec_escape(other.dir, &listed);
	snprintf(path, sizeof(path), "current/image:a/diff:%s", strbuf_str(&listed));
	cr_expect_eq(older(path), 16);
	cr_expect_eq(text_of("current/image:a/diff:old/report", &owner, NULL), 0);
	snprintf(escaped, sizeof(escaped), "%s%%2Fsamples%%2Fs", path);
	cr_expect_eq(older(escaped), 16);
	snprintf(escaped, sizeof(escaped), "%s%%2Fsamples%%2Fnosuch", path);
	cr_expect_eq(fails(escaped, &owner, NULL), -ENOENT);
	strbuf_fini(&listed);
	sessions_fini(&other);
}

Test(diff, a_comparison_moves_on_with_both_sides)
{
	struct place p;
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .session = "old", .samples = 1 });
	sessions_add(&disk, (struct sessions_file){ .samples = 2 });
	sessions_live(&disk, 1, false);
	open_tree(false);
	p = walk("old/diff:current");
	cr_expect_eq(place_samples(&p.base->p), 2);
	sessions_add(&disk, (struct sessions_file){ .samples = 4 });
	sessions_live(&disk, 2, false);
	for (int i = 0; i < 12000 && place_samples(&p.base->p) == 2; i++) {
		cr_assert_eq(tree_refresh(tree, &p, &owner, &err), 0, "%s", err.msg);
		usleep(10000);
	}
	cr_expect_eq(place_samples(&p.base->p), 6);
	cr_expect_eq(place_samples(&p), 1);
	place_fini(&p);
}
