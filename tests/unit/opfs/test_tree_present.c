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

TestSuite(present, .init = places_init, .fini = places_fini);

Test(present, does_not_list_a_file_that_a_tag_contradicts_and_says_what_takes_it)
{
	CLEANUP(free_ptr) char *status = NULL;
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	cr_expect(lists("current", "summary"));
	cr_expect(lists("current/demangle:none", "report"));
	cr_expect_not(lists("current/demangle:none", "summary"));
	cr_expect(lists("current/demangle:none", "README"));
	cr_expect_eq(text_of("current/demangle:none/summary", &owner, &err), -EINVAL);
	cr_expect(strstr(err.msg, "demangle") && strstr(err.msg, "report"), "%s",
		  err.msg);
	cr_expect_eq(text_of("current/with:accumulated/summary", &owner, &err), -EINVAL);
	cr_expect(strstr(err.msg, "with:accumulated"), "%s", err.msg);
	cr_expect(strstr(err.msg, "report"), "%s", err.msg);
	cr_expect_eq(text_of("current/with:accumulated/status", &owner, &err), 0, "%s",
		     err.msg);
	status = status_of(&owner);
	cr_expect(strstr(status, "current/with:accumulated/summary: "), "%s", status);
}

Test(present, words_that_undo_each_other_are_a_contradiction)
{
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .cpu = 1, .samples = 1 });
	open_tree(false);
	cr_expect_eq(text_of("current/split:cpu/report", &owner, &err), 0, "%s", err.msg);
	cr_expect_eq(text_of("current/split:cpu/merge:cpu/report", &owner, &err),
		     -EINVAL);
	cr_expect_eq(text_of("current/merge:all/split:cpu/report", &owner, &err),
		     -EINVAL);
	cr_expect_eq(text_of("current/sort:diff/report", &owner, &err), -EINVAL);
	cr_expect(strstr(err.msg, "diff:"), "%s", err.msg);
}

Test(present, columns_of_two_kinds_are_a_contradiction_of_all_but_README_and_status)
{
	struct err err;

	sessions_add(&disk,
		     (struct sessions_file){ .event = "A", .cpu = 1, .samples = 1 });
	sessions_add(&disk,
		     (struct sessions_file){ .event = "B", .cpu = 2, .samples = 1 });
	open_tree(false);
	cr_expect(lists("current", "report"));
	cr_expect_not(lists("current/split:cpu", "report"));
	cr_expect_not(lists("current/split:cpu/more:", "report.xml"));
	cr_expect(lists("current/split:cpu", "status"));
	cr_expect_eq(text_of("current/split:cpu/report", &owner, &err), -EINVAL);
	cr_expect_eq(text_of("current/split:cpu/README", &owner, &err), 0, "%s", err.msg);
	cr_expect_eq(text_of("current/split:cpu/event:A/report", &owner, &err), 0, "%s",
		     err.msg);
}

Test(present, switches_come_together_and_other_tags_are_given_once)
{
	struct place p;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	p = walk("current/with:no-header/with:reverse-sort");
	cr_expect_eq(p.spec->values[SPEC_WITH]->nr_words, 2);
	place_fini(&p);
	cr_expect_eq(fails("current/sort:vma/sort:image", &owner, NULL), -ENOENT);
	cr_expect_eq(fails("current/threshold:200", &owner, NULL), -EINVAL);
	cr_expect_eq(fails("current/with:nosuch", &owner, NULL), -EINVAL);
}

Test(present, lists_the_words_of_tags_that_have_some)
{
	struct err err;
	struct place p;
	struct found *f = calloc(1, sizeof(*f));

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	cr_expect(lists("current/sort:", "app-name"));
	cr_expect(lists("current/with:", "debug-info"));
	cr_expect_eq(samples("current/threshold:/1"), 1);
	p = walk("current/threshold:");
	cr_expect_eq(tree_list(tree, &p, &owner, keep, f, &err), -ENOENT);
	cr_expect(strstr(err.msg, "threshold:0.5"), "%s", err.msg);
	place_fini(&p);
	found_fini(f);
	free(f);
}

Test(present, host_paths_are_for_who_mounted_and_must_be_directories)
{
	static const struct viewer other = { .cred = { .uid = 12345, .gid = 12345 } };
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	chmod(disk.dir, 0755);
	open_tree(true);
	cr_expect_eq(fails("current/image-path:%2F", &owner, &err), 0, "%s", err.msg);
	cr_expect_eq(fails("current/image-path:%2F", &other, &err), -EACCES);
	cr_expect_eq(fails("current/root:%2F", &other, &err), -EACCES);
	cr_expect_eq(fails("current/search-dirs:%2F", &other, &err), -EACCES);
	cr_expect_eq(fails("current/base-dirs:%2F", &other, &err), -EACCES);
	cr_expect_eq(fails("current/diff:%2Fnosuch", &other, &err), -EACCES);
	cr_expect_eq(fails("current/image-path:%2Fdev%2Fnull", &owner, &err), -EINVAL);
	cr_expect(strstr(err.msg, "isn't a directory"), "%s", err.msg);
	cr_expect_eq(fails("current/root:usr", &owner, &err), -EINVAL);
}

Test(present, slow_files_are_listed_in_more_and_resolve_everywhere)
{
	struct place p;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	open_tree(false);
	cr_expect(lists("current", "more"));
	cr_expect_not(lists("current", "report.xml"));
	cr_expect(lists("current/more", "report.xml"));
	cr_expect(lists("current/more:", "annotate"));
	cr_expect_not(lists("current/more:", "report"));
	cr_expect_eq(text_of("current/report.xml", &owner, NULL), 0);
	cr_expect_eq(text_of("current/image:demo/more:/report.xml", &owner, NULL), 0);
	cr_expect_eq(fails("current/more:/report", &owner, NULL), -ENOENT);
	p = walk("current/image:/bin/demo/more/report.xml");
	cr_expect_eq(p.kind, PLACE_FILE);
	place_fini(&p);
}

Test(present, archive_tar_is_of_who_mounted)
{
	static const struct viewer other = { .cred = { .uid = 12345, .gid = 12345 } };
	struct err err;

	sessions_add(&disk, (struct sessions_file){ .samples = 1 });
	chmod(disk.dir, 0755);
	open_tree(true);
	cr_expect(lists("current/more:", "archive.tar"));
	cr_expect_not(lists("current/image:demo/more:", "archive.tar"));
	cr_expect_eq(fails("current/image:demo/tasks.tsv", &owner, &err), -ENOENT);
	cr_expect(strstr(err.msg, "whole session"), "%s", err.msg);
	cr_expect_eq(text_of("current/archive.tar", &other, &err), -EACCES);
	cr_expect(strstr(err.msg, "who mounted"), "%s", err.msg);
}
