/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "opfs/session/archive_dir.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

static char root[] = "/tmp/opfs-archive.XXXXXX";
static struct arena arena;
static struct archive_dir dir;

static void put(const char *path, const char *text)
{
	int at = open(root, O_DIRECTORY | O_RDONLY);
	char *above = strdup(path), *slash = strrchr(above, '/');

	*slash = '\0';
	cr_assert_eq(file_mkdirs(at, above, 0755, NULL), 0);
	cr_assert_eq(file_replace(at, path, text, strlen(text), 0644, 0, NULL), 0);
	free(above);
	close(at);
}

static void init(void)
{
	cr_assert(mkdtemp(root));
	put("usr/bin/prog", "x");
}

static void fini(void)
{
	arena_fini(&arena);
	file_remove_tree(AT_FDCWD, root, NULL);
}

TestSuite(archive_dir, .init = init, .fini = fini);

static void look(void)
{
	cr_assert_eq(archive_dir_init(&dir, root, &arena), 0);
}

static bool is_below(const char *path, const char *rest)
{
	return !strncmp(path, root, strlen(root)) && !strcmp(path + strlen(root), rest);
}

Test(archive_dir, no_path_leads_out_of_it)
{
	static const char *const bad[] = { "",        "a",    "a/b", "/",     "//a",
					   "/a//b",   "/a/",  "/..", "/../a", "/a/../b",
					   "/a/b/..", "/./a", "/a/." };
	static const char *const good[] = { "/a", "/a/b", "/...", "/.a/..b", "/a\n/b" };
	struct strbuf out = { 0 };
	char *deep = malloc(PATH_MAX + 2);

	look();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_expect_not(archive_dir_takes(bad[i]), "%s", bad[i]);
		cr_expect_not(archive_dir_path(&dir, bad[i], &out), "%s", bad[i]);
	}
	cr_expect_eq(out.len, 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		cr_expect(archive_dir_takes(good[i]), "%s", good[i]);
	memset(deep, 'x', PATH_MAX + 1);
	deep[0] = '/';
	deep[PATH_MAX + 1] = '\0';
	cr_expect_not(archive_dir_takes(deep));
	free(deep);
	cr_expect(archive_dir_path(&dir, "/a/b", &out));
	cr_expect(is_below(strbuf_str(&out), "/a/b"));
	strbuf_fini(&out);
}

Test(archive_dir, what_it_has_is_loaded_from_it)
{
	struct sym_job job = { .kind = SYM_USER, .path = "/usr/bin/prog" };
	struct sym_job other = { .kind = SYM_USER, .path = "/usr/bin/other" };

	look();
	cr_assert_eq(archive_dir_job(&dir, &job, &arena), 0);
	cr_expect(is_below(job.path, "/usr/bin/prog"));
	cr_expect(is_below(job.places->debug_dir, "/usr/lib/debug"));
	cr_expect_eq(job.kind, SYM_USER);
	cr_assert_eq(archive_dir_job(&dir, &other, &arena), 0);
	cr_expect_str_eq(other.path, "/usr/bin/other");
	cr_expect_null(other.places);
}

Test(archive_dir, kernel_symbols_are_its_own_only_if_it_has_some)
{
	struct sym_job job = { .kind = SYM_KALLSYMS };

	look();
	cr_assert_eq(archive_dir_job(&dir, &job, &arena), 0);
	cr_expect_null(job.places);
	put("proc/kallsyms", "");
	look();
	cr_assert_eq(archive_dir_job(&dir, &job, &arena), 0);
	cr_assert_not_null(job.places);
	cr_expect(is_below(job.places->kallsyms, "/proc/kallsyms"));
	cr_expect(is_below(job.places->kernel_notes, "/sys/kernel/notes"));
}

Test(archive_dir, a_vdso_is_a_file_there)
{
	struct sym_job job = { .kind = SYM_VDSO, .build_id = { 2, { 0xab, 0xcd } } };
	struct strbuf path = { 0 };

	archive_dir_vdso(&job.build_id, &path);
	look();
	cr_assert_eq(archive_dir_job(&dir, &job, &arena), 0);
	cr_expect_eq(job.kind, SYM_VDSO);
	put(strbuf_str(&path) + 1, "x");
	cr_assert_eq(archive_dir_job(&dir, &job, &arena), 0);
	cr_expect_eq(job.kind, SYM_USER);
	cr_expect(is_below(job.path, strbuf_str(&path)));
	cr_expect_str_eq(archive_dir_shown(&dir, job.path), "[vdso]");
	strbuf_fini(&path);
}

Test(archive_dir, messages_do_not_tell_where_it_is)
{
	char text[200];

	look();
	snprintf(text, sizeof(text), "%s/usr/bin/prog: is broken", root);
	cr_expect_str_eq(archive_dir_shown(&dir, text), "/usr/bin/prog: is broken");
	snprintf(text, sizeof(text), "%sx/usr", root);
	cr_expect_eq(archive_dir_shown(&dir, text), text);
	cr_expect_str_eq(archive_dir_shown(&(struct archive_dir){ 0 }, "/x"), "/x");
}

Test(archive_dir, without_a_directory_there_is_none)
{
	struct sym_job job = { .kind = SYM_USER, .path = "/usr/bin/prog" };

	cr_assert_eq(archive_dir_init(&dir, NULL, &arena), 0);
	cr_expect_null(dir.root);
	cr_assert_eq(archive_dir_init(&dir, "/nowhere/at/all", &arena), 0);
	cr_expect_null(dir.root);
	cr_assert_eq(archive_dir_job(&dir, &job, &arena), 0);
	cr_expect_str_eq(job.path, "/usr/bin/prog");
}
