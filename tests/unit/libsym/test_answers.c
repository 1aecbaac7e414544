/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/server/answers.h"
#include "libsym/server/server.h"

static char dir[] = "/tmp/opfs-answers.XXXXXX";
static char kept[64];
static char exe[4096];
static struct sym_answers a;
static struct strbuf one, two;

static void start(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	cr_assert_eq(setenv("OPFS_CACHE_DIR", dir, 1), 0);
	snprintf(kept, sizeof(kept), "%s/answers", dir);
	sym_answers_init(&a);
	strbuf_puts(&one, "a request");
	strbuf_puts(&two, "another one");
}

static void stop(void)
{
	sym_answers_fini(&a);
	strbuf_fini(&one);
	strbuf_fini(&two);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(answers, .init = start, .fini = stop, .timeout = 1000);

/* What is kept of a request is this; NULL: nothing is. */
static void expect(struct sym_answers *of, const struct strbuf *request, const char *text)
{
	CLEANUP(sym_kept_answer_fini) struct sym_kept_answer k = { 0 };
	bool found = sym_answers_get(of, request, &k);

	cr_assert_eq(found, text != NULL);
	if (text)
		cr_assert(k.len == strlen(text) && !memcmp(k.answer, text, k.len));
}

/* The files there are, and the path of one of them. */
static size_t files(char path[160])
{
	CLEANUP(close_dir) DIR *d = opendir(kept);
	struct dirent *e;
	size_t nr = 0;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			snprintf(path, 160, "%s/%.80s", kept, e->d_name);
			nr++;
		}
	return nr;
}

Test(answers, what_was_put_is_there_for_the_next_process)
{
	struct sym_answers later;
	struct stat st;

	expect(&a, &one, NULL);
	sym_answers_put(&a, &one, "", 0, "yes", 3);
	sym_answers_put(&a, &two, "", 0, "", 0);
	sym_answers_init(&later);
	expect(&later, &one, "yes");
	expect(&later, &two, "");
	sym_answers_put(&later, &one, "", 0, "no", 2);
	sym_answers_fini(&later);
	expect(&a, &one, "no");
	cr_assert_eq(stat(kept, &st), 0);
	cr_expect_eq(st.st_mode & 07777, 0700);
}

Test(answers, a_file_that_is_damaged_in_any_byte_is_none)
{
	char path[160];
	struct stat st;

	sym_answers_put(&a, &one, "", 0, "yes", 3);
	cr_assert_eq(files(path), 1);
	cr_assert_eq(stat(path, &st), 0);
	for (off_t at = 0; at < st.st_size; at++) {
		CLEANUP(close_fd) int fd = open(path, O_RDWR | O_CLOEXEC);
		char was, is;

		cr_assert_eq(pread(fd, &was, 1, at), 1);
		is = (char)(was ^ 4);
		cr_assert_eq(pwrite(fd, &is, 1, at), 1);
		expect(&a, &one, NULL);
		cr_assert_eq(pwrite(fd, &was, 1, at), 1);
	}
	expect(&a, &one, "yes");
	for (off_t len = st.st_size - 1; len >= 0; len--) {
		cr_assert_eq(truncate(path, len), 0);
		expect(&a, &one, NULL);
	}
}

Test(answers, a_link_or_a_pipe_in_place_of_a_file_is_none)
{
	char path[160], other[80];

	sym_answers_put(&a, &one, "", 0, "yes", 3);
	cr_assert_eq(files(path), 1);
	snprintf(other, sizeof(other), "%s/elsewhere", dir);
	cr_assert_eq(rename(path, other), 0);
	cr_assert_eq(symlink(other, path), 0);
	expect(&a, &one, NULL);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(mkfifo(path, 0600), 0);
	expect(&a, &one, NULL); /* and does not wait for a writer */
}

Test(answers, a_directory_that_others_may_look_into_is_not_used)
{
	char path[160];

	cr_assert_eq(mkdir(kept, 0700), 0);
	cr_assert_eq(chmod(kept, 0750), 0);
	sym_answers_put(&a, &one, "", 0, "yes", 3);
	expect(&a, &one, NULL);
	cr_expect_eq(files(path), 0);
}

Test(answers, none_are_kept_where_none_are_wanted)
{
	cr_assert_eq(setenv("OPFS_CACHE_DIR", "", 1), 0);
	sym_answers_put(&a, &one, "", 0, "yes", 3);
	expect(&a, &one, NULL);
	cr_expect_neq(access(kept, F_OK), 0);
}

Test(answers, nobody_writes_into_the_home_of_somebody_else)
{
	char path[64];

	if (geteuid())
		cr_skip_test("needs root");
	snprintf(path, sizeof(path), "%s/home", dir);
	cr_assert_eq(mkdir(path, 0755), 0);
	cr_assert_eq(chown(path, 1000, 1000), 0);
	cr_assert_eq(unsetenv("OPFS_CACHE_DIR"), 0);
	cr_assert_eq(unsetenv("XDG_CACHE_HOME"), 0);
	cr_assert_eq(setenv("HOME", path, 1), 0);
	sym_answers_put(&a, &one, "", 0, "yes", 3);
	expect(&a, &one, NULL);
	cr_expect_eq(rmdir(path), 0, "it is empty");
}

Test(answers, what_nobody_used_for_a_month_goes)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1000000000 },
						     { .tv_sec = 1000000000 } };
	struct sym_answers later;
	char path[160];

	sym_answers_put(&a, &one, "", 0, "yes", 3);
	cr_assert_eq(files(path), 1);
	cr_assert_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	sym_answers_init(&later);
	sym_answers_put(&later, &two, "", 0, "yes", 3);
	expect(&later, &two, "yes");
	expect(&later, &one, NULL);
	sym_answers_fini(&later);
}

Test(answers, what_others_put_beside_them_stays)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1000000000 },
						     { .tv_sec = 1000000000 } };
	static const struct {
		const char *name;
		bool stays;
	} files[] = {
		{ "thesis.txt", true },        { "0123456789abcdef0", true },
		{ "0123456789abcdeF", true },  { ".tmp.1.2", false },
		{ "0123456789abcdef", false },
	};
	char path[200];

	cr_assert_eq(mkdir(kept, 0700), 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", kept, files[i].name);
		close(open(path, O_WRONLY | O_CREAT, 0600));
		cr_assert_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	}
	sym_answers_put(&a, &one, "", 0, "yes", 3);
	expect(&a, &one, "yes");
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", kept, files[i].name);
		cr_expect_eq(!access(path, F_OK), files[i].stays, "%s", files[i].name);
	}
}

Test(answers, what_is_used_stays)
{
	static const struct timespec long_ago[2] = { { .tv_sec = 1000000000 },
						     { .tv_sec = 1000000000 } };
	struct sym_answers later;
	char path[160];

	sym_answers_put(&a, &one, "", 0, "yes", 3);
	cr_assert_eq(files(path), 1);
	cr_assert_eq(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	expect(&a, &one, "yes");
	sym_answers_init(&later);
	sym_answers_put(&later, &two, "", 0, "yes", 3);
	expect(&later, &one, "yes");
	sym_answers_fini(&later);
}

/* Bytes of all files. */
static uint64_t all_bytes(void)
{
	CLEANUP(close_dir) DIR *d = opendir(kept);
	struct dirent *e;
	uint64_t bytes = 0;

	while (d && (e = readdir(d))) {
		struct stat st;

		if (!fstatat(dirfd(d), e->d_name, &st, 0) && S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	}
	return bytes;
}

Test(answers, all_of_them_have_a_bound_and_only_beyond_it_some_go)
{
	enum { PIECE = 40 << 20, NR = 12 };
	CLEANUP(free_ptr) char *piece = calloc(1, PIECE);
	struct sym_answers later;
	uint64_t bytes;

	for (int i = 0; i < NR; i++) {
		CLEANUP(strbuf_fini) struct strbuf r = { 0 };

		strbuf_number(&r, (unsigned long long)i, 0);
		sym_answers_put(&a, &r, "", 0, piece, PIECE);
	}
	bytes = all_bytes();
	cr_expect(bytes >= PIECE && bytes <= 256u << 20, "%llu",
		  (unsigned long long)bytes);
	sym_answers_init(&later);
	sym_answers_put(&later, &two, "", 0, "yes", 3);
	cr_expect_gt(all_bytes(), bytes);
	sym_answers_fini(&later);
}

/* The symbols of this program, by a server whose helper is another program; NULL: that
 * one died before it was asked. */
static struct sym_table *load_by(const char *program)
{
	const struct sym_job job = { .kind = SYM_USER, .path = exe };
	const struct sym_server_options o = { .program = program, .remembers = true };
	struct sym_server *s = sym_server_new(&o);
	struct sym_table *t = NULL;

	cr_assert_not_null(s);
	sym_server_load(s, &job, NULL, &t, NULL);
	sym_server_free(s);
	return t;
}

Test(answers, a_server_needs_no_helper_for_what_it_was_told_before)
{
	CLEANUP(sym_table_putp) struct sym_table *told = load_by(NULL);
	CLEANUP(sym_table_putp) struct sym_table *known = load_by("/bin/false");

	cr_assert(told && known);
	cr_assert_eq(known->state, told->state);
	cr_assert_eq(known->nr_syms, told->nr_syms);
	cr_assert_gt(told->nr_syms, 100);
	for (size_t i = 0; i < told->nr_syms; i++) {
		const struct sym *x = &told->syms[i], *y = &known->syms[i];

		cr_assert(x->off == y->off && x->size == y->size && x->vma == y->vma &&
			  x->flags == y->flags);
		cr_assert_str_eq(sym_name(x), sym_name(y));
		cr_assert_eq(sym_find(known, x->off), y);
	}
	cr_expect_str_eq(known->path, told->path);
	cr_expect(build_id_equal(&known->build_id, &told->build_id));
	cr_expect_eq(known->ino, told->ino);
}

Test(answers, a_helper_that_dies_leaves_nothing_that_is_remembered)
{
	CLEANUP(sym_table_putp) struct sym_table *broken = load_by("/bin/false");
	CLEANUP(sym_table_putp) struct sym_table *told = load_by(NULL);

	cr_expect(!broken || broken->state == SYM_BROKEN);
	cr_assert_not_null(told);
	cr_expect_gt(told->nr_syms, 100);
}
