/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libsym/helper/source_read.h"
#include "libsym/server/server.h"
#include "libsym/wire/source_wire.h"

static struct sym_server *server;
static char dir[] = "/tmp/opfs-source.XXXXXX";

static void start(void)
{
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(chmod(dir, 0755), 0);
	server = sym_server_new(NULL);
	cr_assert_not_null(server);
}

static void stop(void)
{
	sym_server_free(server);
	file_remove_tree(AT_FDCWD, dir, NULL);
}

TestSuite(source, .init = start, .fini = stop, .timeout = 1000);

static const char *in_dir(const char *name)
{
	static char paths[4][64];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

static const char *write_file(const char *name, const char *text, mode_t mode)
{
	const char *path = in_dir(name);

	cr_assert_eq(file_replace(AT_FDCWD, path, text, strlen(text), mode, 0, NULL), 0);
	cr_assert_eq(chmod(path, mode), 0);
	return path;
}

static struct sym_text *ask(const char *const *paths, size_t nr, const struct cred *cred)
{
	struct sym_text *s = NULL;
	struct err err = { 0 };

	cr_assert_eq(sym_server_source(server, paths, nr, cred, NULL, &s, &err), 0, "%s",
		     err.msg);
	cr_assert_not_null(s);
	return s;
}

Test(source, the_first_path_that_is_a_file_is_read)
{
	const char *paths[] = { in_dir("absent"), dir,
				write_file("a.c", "int\ta;\n", 0644), in_dir("b.c") };
	CLEANUP(sym_text_freep) struct sym_text *s = ask(paths, 4, NULL);
	struct stat st;

	cr_expect_eq(s->state, SYM_OK);
	cr_expect_str_eq(s->reason, "");
	cr_expect_str_eq(s->path, paths[2]);
	cr_expect_eq(s->len, 7);
	cr_expect_str_eq(s->data, "int\ta;\n");
	cr_assert_eq(stat(paths[2], &st), 0);
	cr_expect_eq(s->mtime, st.st_mtime);
}

Test(source, no_file_is_missing_and_says_which)
{
	const char *paths[] = { in_dir("absent.c"), in_dir("gone.c") };
	CLEANUP(sym_text_freep) struct sym_text *s = ask(paths, 2, NULL);
	CLEANUP(sym_text_freep) struct sym_text *none = ask(paths, 0, NULL);

	cr_expect_eq(s->state, SYM_MISSING);
	cr_expect(strstr(s->reason, "/absent.c: No such file"), "%s", s->reason);
	cr_expect_str_eq(s->path, "");
	cr_expect_eq(s->len, 0);
	cr_expect_eq(none->state, SYM_MISSING);
}

Test(source, what_is_no_regular_file_is_not_opened)
{
	const char *fifo = in_dir("fifo"), *devices[] = { fifo, "/dev/zero", dir };

	cr_assert_eq(mkfifo(fifo, 0644), 0);
	for (size_t i = 0; i < 3; i++) {
		CLEANUP(sym_text_freep) struct sym_text *s = ask(&devices[i], 1, NULL);

		cr_expect_eq(s->state, SYM_MISSING);
		cr_expect(strstr(s->reason, "is not a regular file"), "%s", s->reason);
	}
}

static const struct cred nobody = { .uid = 65534, .gid = 65534 };

Test(source, what_the_user_may_not_read_shows_nothing)
{
	const char *secret = write_file("secret", "root:x:1\n", 0600);
	const char *open = write_file("open", "int b;\n", 0644), *link = in_dir("link");
	const char *paths[] = { secret, open }, *links[] = { link };

	if (geteuid())
		cr_skip_test("only root can ask for somebody else");
	cr_assert_eq(symlink(secret, link), 0);
	for (int i = 0; i < 3; i++) {
		CLEANUP(sym_text_freep)
		struct sym_text *s = ask(i == 1 ? links : paths, i == 2 ? 2 : 1, &nobody);

		cr_expect_eq(s->state, SYM_UNREADABLE);
		cr_expect(strstr(s->reason, ": Permission denied"), "%s", s->reason);
		cr_expect(!strstr(s->reason, "root:") && !s->len && !*s->data);
	}
	for (int i = 0; i < 2; i++) {
		CLEANUP(sym_text_freep)
		struct sym_text *s = ask(i ? links : paths, 1, NULL);

		cr_expect_eq(s->state, SYM_OK);
		cr_expect_str_eq(s->data, "root:x:1\n");
	}
}

Test(source, a_closed_directory_does_not_hide_the_next_path)
{
	const char *closed = in_dir("closed");
	const char *paths[] = { in_dir("closed/x.c"), write_file("x.c", "x", 0644) };
	struct sym_text *s;

	if (geteuid())
		cr_skip_test("only root can ask for somebody else");
	cr_assert_eq(mkdir(closed, 0700), 0);
	s = ask(paths, 2, &nobody);
	cr_expect_eq(s->state, SYM_OK);
	sym_text_free(s);
	s = ask(paths, 1, &nobody);
	cr_expect_eq(s->state, SYM_UNREADABLE);
	sym_text_free(s);
}

Test(source, a_file_that_is_too_big_is_refused_with_the_limit)
{
	const char *big = write_file("big.c", "", 0644);
	CLEANUP(sym_text_freep) struct sym_text *s = NULL;

	cr_assert_eq(truncate(big, (off_t)SYM_SOURCE_MAX + 1), 0);
	s = ask(&big, 1, NULL);
	cr_expect_eq(s->state, SYM_BROKEN);
	cr_expect(strstr(s->reason, "/big.c: is larger than 64 MiB"), "%s", s->reason);
	cr_assert_eq(truncate(big, SYM_SOURCE_MAX), 0);
	sym_text_free(TAKE(s));
	s = ask(&big, 1, NULL);
	cr_expect_eq(s->state, SYM_OK);
	cr_expect_eq(s->len, SYM_SOURCE_MAX);
}

Test(source, answers_of_a_broken_helper_are_refused)
{
	struct sym_text in = {
		.reason = "wh\ny", .path = "/p", .data = "a\nb", .len = 3
	};
	CLEANUP(strbuf_fini) struct strbuf blob = { 0 };
	CLEANUP(sym_text_freep) struct sym_text *s = NULL;
	struct sym_source_header *h;

	cr_assert_eq(sym_source_pack(&in, &blob), 0);
	cr_assert_eq(sym_source_decode(blob.data, blob.len, &s, NULL), 0);
	cr_expect_str_eq(s->reason, "wh?y");
	cr_expect_str_eq(s->data, "a\nb");
	sym_text_free(TAKE(s));
	for (size_t len = 0; len < blob.len; len++)
		cr_assert_eq(sym_source_decode(blob.data, len, &s, NULL), -EBADMSG);
	h = (struct sym_source_header *)blob.data;
	h->reason_len--;
	h->path_len++;
	cr_expect_eq(sym_source_decode(blob.data, blob.len, &s, NULL), -EBADMSG);
	h->reason_len++;
	h->path_len--;
	h->state = SYM_NR_STATES;
	cr_expect_eq(sym_source_decode(blob.data, blob.len, &s, NULL), -EBADMSG);
}
