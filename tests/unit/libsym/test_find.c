/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libsym/file/find.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"

static char top[64];

static void make_top(void)
{
	strcpy(top, "/tmp/opfs-test-XXXXXX");
	cr_assert_not_null(mkdtemp(top));
	cr_assert_eq(chdir(top), 0);
}

static void remove_top(void)
{
	cr_assert_eq(chdir("/"), 0);
	file_remove_tree(AT_FDCWD, top, NULL);
}

TestSuite(find, .init = make_top, .fini = remove_top);

static void make_file(const char *path)
{
	char copy[128];

	for (size_t i = 0; path[i]; i++) {
		if (path[i] != '/')
			continue;
		snprintf(copy, sizeof(copy), "%.*s", (int)i, path);
		mkdir(copy, 0755);
	}
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
}

/* Looks in @top for names, NUL-terminated, one behind the other. */
static int find(const char *names, size_t len, struct sym_found **out, struct err *err)
{
	CLEANUP(strbuf_fini) struct strbuf texts = { 0 }, answer = { 0 };
	int rc;

	strbuf_add(&texts, top, strlen(top) + 1);
	strbuf_add(&texts, names, len);
	rc = sym_find_encode(texts.data, texts.len, 1, &answer, err);
	return rc ? rc : sym_find_decode(answer.data, answer.len, out, err);
}

static bool has(const struct sym_found *f, const char *below)
{
	for (size_t i = 0; i < f->nr; i++)
		if (!strcmp(f->path[i] + strlen(top) + 1, below))
			return true;
	return false;
}

#define MUST_FIND(names, f, n)                                                           \
	do {                                                                             \
		struct err e_ = { 0 };                                                   \
		cr_assert_eq(find(names, sizeof(names), &f, &e_), 0, "%s", e_.msg);      \
		cr_assert_eq(f->nr, (size_t)(n), "%zu found", f->nr);                    \
	} while (0)

Test(find, files_by_their_names_wherever_they_are)
{
	CLEANUP(free_ptr) struct sym_found *f = NULL;

	make_file("a");
	make_file("x/y/z/a");
	make_file("x/b");
	make_file("x/ab");
	make_file("b/nothing");
	MUST_FIND("a\0b", f, 3);
	cr_expect(has(f, "a") && has(f, "x/y/z/a") && has(f, "x/b"));
	cr_expect_not(f->cut);
}

Test(find, a_file_that_has_links_is_one_and_linked_directories_are_not_entered)
{
	CLEANUP(free_ptr) struct sym_found *f = NULL;

	make_file("x/a");
	mkdir("y", 0755);
	cr_assert_eq(symlink("../x/a", "y/a"), 0);
	cr_assert_eq(link("x/a", "a"), 0);
	cr_assert_eq(symlink(".", "x/loop"), 0);
	MUST_FIND("a", f, 1);
}

Test(find, what_is_no_regular_file_is_not_found)
{
	CLEANUP(free_ptr) struct sym_found *f = NULL;

	cr_assert_eq(mkfifo("a", 0644), 0);
	mkdir("x", 0755);
	cr_assert_eq(symlink("nowhere", "x/a"), 0);
	mkdir("x/y", 0755);
	mkdir("x/y/a", 0755);
	MUST_FIND("a", f, 0);
}

Test(find, modules_are_found_by_their_names)
{
	CLEANUP(free_ptr) struct sym_found *f = NULL;

	make_file("k/snd-hda,intel.ko.xz");
	make_file("k/snd_hda.ko");
	MUST_FIND("snd_hda_intel", f, 1);
	cr_expect(has(f, "k/snd-hda,intel.ko.xz"));
}

Test(find, a_directory_that_is_none_is_named)
{
	static const char texts[] = "/nonexistent/dir\0a";
	CLEANUP(strbuf_fini) struct strbuf answer = { 0 };
	struct err err = { 0 };

	cr_expect_eq(sym_find_encode(texts, sizeof(texts), 1, &answer, &err), -EINVAL);
	cr_expect(strstr(err.msg, "/nonexistent/dir"), "%s", err.msg);
}

Test(find, answers_are_not_believed)
{
	static const char cut_short[] = { 0, 0, 0, 0, '/', 'a' };
	static const char none[] = { 1, 0, 0, 0 };
	CLEANUP(free_ptr) struct sym_found *f = NULL;

	cr_expect_eq(sym_find_decode(cut_short, 3, &f, NULL), -EBADMSG);
	cr_expect_eq(sym_find_decode(cut_short, 6, &f, NULL), -EBADMSG);
	cr_expect_eq(sym_find_decode(none, 4, &f, NULL), 0);
	cr_expect_eq(f->nr, 0);
	cr_expect(f->cut);
}
