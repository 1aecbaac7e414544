/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "libsym/request.h"

static struct strbuf make_load(void)
{
	static const gid_t groups[] = { 4, 5, 6 };
	struct sym_cred cred = { .uid = 7, .gid = 8, .groups = groups, .nr_groups = 3 };
	struct sym_places places = { .debug_dir = "/debug", .kernel_notes = "/notes" };
	struct sym_job job = {
		.kind = SYM_MODULE,
		.path = "/a b",
		.name = "mod",
		.mtime = -1,
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
