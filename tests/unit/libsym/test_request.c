/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "libsym/wire/request.h"

static struct strbuf make_load(void)
{
	static const gid_t groups[] = { 4, 5, 6 };
	struct cred cred = { .uid = 7, .gid = 8, .groups = groups, .nr_groups = 3 };
	struct sym_places places = { .debug_dir = "/debug",
				     .kernel_notes = "/notes",
				     .perf = "/perf",
				     .debuginfod = "/fetched" };
	struct sym_job job = {
		.kind = SYM_MODULE,
		.path = "/a b",
		.name = "mod",
		.mtime = -1,
		.at = "/proc/9/root",
		.inode = 11,
		.build_id = { .len = 2, .bytes = { 0xab, 0xcd } },
		.cred = &cred,
		.places = &places,
	};
	struct strbuf out = { 0 };

	sym_request_load(&job, &out);
	cr_assert_eq(strbuf_error(&out), 0);
	return out;
}

Test(request, a_job_survives)
{
	CLEANUP(strbuf_fini) struct strbuf b = make_load();
	struct sym_frame f;
	struct sym_request r;

	memcpy(&f, b.data, sizeof(f));
	cr_assert_eq(f.magic, SYM_REQUEST_MAGIC);
	cr_assert_eq(f.len, b.len - sizeof(f));
	cr_assert_eq(sym_request_parse(b.data + sizeof(f), f.len, &r, NULL), 0);
	cr_expect_eq(r.kind, SYM_REQUEST_LOAD);
	cr_expect_eq(r.job.kind, SYM_MODULE);
	cr_expect_str_eq(r.job.path, "/a b");
	cr_expect_str_eq(r.job.name, "mod");
	cr_expect_eq(r.job.mtime, -1);
	cr_expect_str_eq(r.job.at, "/proc/9/root");
	cr_expect_eq(r.job.inode, 11);
	cr_expect_eq(r.job.build_id.len, 2);
	cr_expect_eq(r.job.build_id.bytes[1], 0xcd);
	cr_assert_not_null(r.job.cred);
	cr_expect_eq(r.job.cred->uid, 7);
	cr_expect_eq(r.job.cred->gid, 8);
	cr_assert_eq(r.job.cred->nr_groups, 3);
	cr_expect_eq(r.job.cred->groups[2], 6);
	cr_expect_str_eq(r.job.places->debug_dir, "/debug");
	cr_expect_str_eq(r.job.places->modules, "");
	cr_expect_str_eq(r.job.places->kernel_notes, "/notes");
	cr_expect_str_eq(r.job.places->perf, "/perf");
	cr_expect_str_eq(r.job.places->debuginfod, "/fetched");
	cr_expect_eq(r.job.places->owner, geteuid());
}

Test(request, one_that_is_cut_short_is_refused)
{
	CLEANUP(strbuf_fini) struct strbuf b = make_load();
	struct sym_request r;

	for (size_t len = 0; len < b.len - sizeof(struct sym_frame); len++)
		cr_assert_eq(sym_request_parse(b.data + sizeof(struct sym_frame), len, &r,
					       NULL),
			     -EBADMSG, "length %zu", len);
}

Test(request, a_job_without_a_user_has_none)
{
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	struct sym_job job = { .path = "/x" };
	struct sym_request r;

	sym_request_load(&job, &b);
	cr_assert_eq(sym_request_parse(b.data + sizeof(struct sym_frame),
				       b.len - sizeof(struct sym_frame), &r, NULL),
		     0);
	cr_expect_null(r.job.cred);
}

Test(request, parts_of_an_image_survive_in_any_order)
{
	static const struct sym_range ranges[] = {
		{ 100, 101 }, { 101, 5000 }, { 7, 8 }, { 0, UINT64_MAX }, { 9, 9 },
	};
	struct sym_parts parts = {
		.ranges = ranges, .nr = 5, .flags = 1, .options = "intel"
	};
	struct sym_job job = { .path = "/x" };
	CLEANUP(sym_request_fini) struct sym_request r = { 0 };
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	size_t head = sizeof(struct sym_frame);

	sym_request_parts(SYM_REQUEST_DISASM, &job, &parts, &b);
	cr_assert_eq(sym_request_parse(b.data + head, b.len - head, &r, NULL), 0);
	cr_expect_eq(r.kind, SYM_REQUEST_DISASM);
	cr_expect_str_eq(r.job.path, "/x");
	cr_expect_str_eq(r.parts.options, "intel");
	cr_expect_eq(r.parts.flags, 1);
	cr_assert_eq(r.parts.nr, 5);
	cr_expect(!memcmp(r.parts.ranges, ranges, sizeof(ranges)));
	for (size_t len = 0; len < b.len - head; len++) {
		struct sym_request cut;

		cr_assert_eq(sym_request_parse(b.data + head, len, &cut, NULL), -EBADMSG,
			     "length %zu", len);
	}
}

Test(request, no_options_are_not_empty_options)
{
	struct sym_job job = { .path = "/x" };
	const char *const options[] = { NULL, "" };

	for (int i = 0; i < 2; i++) {
		struct sym_parts parts = { .options = options[i] };
		CLEANUP(sym_request_fini) struct sym_request r = { 0 };
		CLEANUP(strbuf_fini) struct strbuf b = { 0 };

		sym_request_parts(SYM_REQUEST_LINES, &job, &parts, &b);
		cr_assert_eq(sym_request_parse(b.data + sizeof(struct sym_frame),
					       b.len - sizeof(struct sym_frame), &r,
					       NULL),
			     0);
		cr_expect_eq(!r.parts.options, !options[i]);
		cr_expect_eq(r.parts.nr, 0);
	}
}

Test(request, more_ranges_than_bytes_are_refused)
{
	struct sym_job job = { .path = "/x" };
	struct sym_range range = { 1, 2 };
	struct sym_parts parts = { .ranges = &range, .nr = 1 };
	struct sym_request r;
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };

	sym_request_parts(SYM_REQUEST_LINES, &job, &parts, &b);
	b.data[b.len - 3] = 0x7f; /* the number of ranges */
	cr_expect_eq(sym_request_parse(b.data + sizeof(struct sym_frame),
				       b.len - sizeof(struct sym_frame), &r, NULL),
		     -EBADMSG);
}

Test(request, source_paths_and_who_asks_survive)
{
	static const gid_t groups[] = { 4 };
	struct cred cred = { .uid = 7, .gid = 8, .groups = groups, .nr_groups = 1 };
	const char *const paths[] = { "/a", "/b c" };
	CLEANUP(strbuf_fini) struct strbuf b = { 0 };
	struct sym_request r;

	sym_request_paths(SYM_REQUEST_SOURCE, paths, 2, &cred, &b);
	cr_assert_eq(sym_request_parse(b.data + sizeof(struct sym_frame),
				       b.len - sizeof(struct sym_frame), &r, NULL),
		     0);
	cr_expect_eq(r.kind, SYM_REQUEST_SOURCE);
	cr_assert_not_null(r.who);
	cr_expect_eq(r.who->uid, 7);
	cr_expect_eq(r.who->groups[0], 4);
	cr_expect_eq(r.nr_names, 2);
	cr_expect_eq(r.names_len, 8);
	cr_expect_str_eq(r.names + 3, "/b c");
}
