/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "libspec/session/session.h"
#include "tests/unit/libspec/scratch.h"

#define SPEC "E.1.0.all.all.all"

struct seen {
	struct strbuf good, bad; /* paths, each with a newline behind it */
	int stop_after, calls;
};

static void seen_fini(struct seen *s)
{
	strbuf_fini(&s->good);
	strbuf_fini(&s->bad);
}

static int visit(void *ctx, struct spec_session_file *file)
{
	struct seen *s = ctx;

	cr_expect_neq(!file->name, !file->bad);
	if (file->bad)
		cr_expect_eq(strncmp(file->bad->msg, file->path,
				     strnlen(file->path, 100)),
			     0, "%s", file->bad->msg);
	else
		cr_expect_eq(faccessat(file->dirfd, file->leaf, F_OK, 0), 0, "%s",
			     file->leaf);
	strbuf_printf(file->bad ? &s->bad : &s->good, "%s\n", file->path);
	return ++s->calls == s->stop_after ? 42 : 0;
}

static void touch(const struct scratch *s, const char *path)
{
	scratch_write(s, path, "", 0);
}

Test(session, walk_visits_sample_files_in_order_and_nothing_else)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(seen_fini) struct seen seen = { 0 };

	touch(&s, "{root}/b/{dep}/{root}/b/" SPEC);
	touch(&s, "{root}/a/{dep}/{root}/lib/" SPEC);
	touch(&s, "{root}/a/{dep}/{anon:x}/1.jo");
	touch(&s, "{kern}/k/{dep}/{kern}/k/" SPEC);
	touch(&s, "stats/total_samples");
	touch(&s, "images");
	touch(&s, ".new/1.1");
	touch(&s, "other/{root}/a/{dep}/{root}/a/" SPEC);
	cr_expect_eq(spec_session_walk(s.fd, false, visit, &seen, NULL), 0);
	cr_expect_str_eq(strbuf_str(&seen.good), "{kern}/k/{dep}/{kern}/k/" SPEC "\n"
						 "{root}/a/{dep}/{root}/lib/" SPEC "\n"
						 "{root}/b/{dep}/{root}/b/" SPEC "\n");
	cr_expect_str_eq(strbuf_str(&seen.bad), "");
}

Test(session, walk_tells_what_it_cannot_show)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(seen_fini) struct seen seen = { 0 };

	touch(&s, "{root}/a/{dep}/{root}/a/" SPEC);
	touch(&s, "{root}/a/{dep}/{root}/a/garbage");
	touch(&s, "{root}/stray");
	cr_assert_eq(symlinkat("/", s.fd, "{root}/link"), 0);
	cr_assert_eq(mkfifoat(s.fd, "{root}/pipe", 0600), 0);
	cr_expect_eq(spec_session_walk(s.fd, false, visit, &seen, NULL), 0);
	cr_expect_str_eq(strbuf_str(&seen.good), "{root}/a/{dep}/{root}/a/" SPEC "\n");
	cr_expect_str_eq(strbuf_str(&seen.bad),
			 "{root}/a/{dep}/{root}/a/garbage\n"
			 "{root}/link\n{root}/pipe\n{root}/stray\n");
}

Test(session, walk_stops_when_the_visitor_says_so)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(seen_fini) struct seen seen = { .stop_after = 2 };

	touch(&s, "{root}/a/{dep}/{root}/a/" SPEC);
	touch(&s, "{root}/b/{dep}/{root}/b/" SPEC);
	touch(&s, "{root}/c/{dep}/{root}/c/" SPEC);
	cr_expect_eq(spec_session_walk(s.fd, false, visit, &seen, NULL), 42);
	cr_expect_eq(seen.calls, 2);
}

static int take(void *ctx, struct spec_session_file *file)
{
	struct spec_name *kept = ctx;

	*kept = TAKE(*file->name);
	return 0;
}

Test(session, walk_hands_over_decoded_names)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_name_fini) struct spec_name n = { 0 };

	touch(&s, "{root}/%7Ba/{dep}/{root}/%7Ba/x%2Ey.1.0.all.all.all");
	cr_expect_not(spec_session_escaped(s.fd));
	touch(&s, "images");
	cr_expect(spec_session_escaped(s.fd));
	cr_expect_eq(spec_session_walk(s.fd, true, take, &n, NULL), 0);
	cr_expect_str_eq(n.app.name, "/{a");
	cr_expect_str_eq(n.event, "x.y");
}

/* @n directories within each other, below {root}. */
static void nest(const struct scratch *s, int n)
{
	int fd = s->fd;

	for (int i = 0; i < n; i++) {
		const char *name = i ? "d" : "{root}";
		int next;

		cr_assert_eq(mkdirat(fd, name, 0700), 0);
		next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cr_assert_geq(next, 0);
		if (fd != s->fd)
			close(fd);
		fd = next;
	}
	close(fd);
}

Test(session, walk_ends_in_directories_nested_without_end)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(seen_fini) struct seen seen = { 0 };
	char cmd[128];

	nest(&s, 1500);
	cr_expect_eq(spec_session_walk(s.fd, false, visit, &seen, NULL), 0);
	cr_expect_eq(seen.calls, 1, "told once: %d", seen.calls);
	cr_expect_gt(seen.bad.len, 500);
	snprintf(cmd, sizeof(cmd), "rm -rf '%s/{root}'", s.path);
	cr_expect_eq(system(cmd), 0);
}

Test(session, walk_of_an_empty_session_visits_nothing)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(seen_fini) struct seen seen = { 0 };

	cr_expect_eq(spec_session_walk(s.fd, false, visit, &seen, NULL), 0);
	cr_expect_eq(seen.calls, 0);
}

Test(session, list_has_directories_sorted)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(names_fini) struct names l = { 0 };

	cr_expect_eq(spec_session_list(s.fd, NULL, &l, NULL), -ENOENT);
	touch(&s, "samples/operf.log");
	touch(&s, "samples/run2/x");
	touch(&s, "samples/current/x");
	touch(&s, "samples/.hidden/x");
	touch(&s, "samples/a,b/x");
	cr_assert_eq(spec_session_list(s.fd, NULL, &l, NULL), 0);
	cr_assert_eq(l.len, 3);
	cr_expect_str_eq(l.data[0], "a,b");
	cr_expect_str_eq(l.data[1], "current");
	cr_expect_str_eq(l.data[2], "run2");
}

Test(session, dir_is_the_one_given_or_found)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(strbuf_fini) struct strbuf dir = { 0 };

	cr_assert_eq(fchdir(s.fd), 0);
	unsetenv("OPFS_SESSION_DIR");
	cr_expect_eq(spec_session_dir("/x/y", &dir), SPEC_SESSION_GIVEN);
	cr_expect_str_eq(dir.data, "/x/y");
	strbuf_reset(&dir);
	cr_expect_eq(spec_session_dir(NULL, &dir), SPEC_SESSION_SYSTEM);
	cr_expect_str_eq(dir.data, "/var/lib/oprofile");
	touch(&s, "oprofile_data/x");
	setenv("OPFS_SESSION_DIR", "e", 1);
	strbuf_reset(&dir);
	cr_expect_eq(spec_session_dir(NULL, &dir), SPEC_SESSION_ENV);
	cr_expect_str_eq(dir.data, "e");
	cr_expect_str_eq(spec_session_dir_to_write(NULL), "e");
	cr_expect_str_eq(spec_session_dir_to_write("given"), "given");
	setenv("OPFS_SESSION_DIR", "", 1);
	cr_expect_str_eq(spec_session_dir_to_write(NULL), "oprofile_data");
	strbuf_reset(&dir);
	cr_expect_eq(spec_session_dir(NULL, &dir), SPEC_SESSION_HERE);
	cr_expect_eq(dir.data[0], '/');
	cr_expect(strstr(dir.data, s.path));
	cr_expect(strstr(dir.data, "/oprofile_data"));
	cr_assert_eq(chdir("/"), 0);
}
