/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "libspec/session/images.h"
#include "tests/unit/libspec/scratch.h"

#define HEADER "# opfs images 1\n"

static char tricky[] = "/a\tb\nc%d\x7f \xff", plain[] = "/bin/ls", deleted[] = "deleted",
	    dash[] = "-";

static void read_text(const char *text, struct spec_images *out, int want)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	struct err err = { 0 };

	scratch_write(&s, "images", text, strlen(text));
	cr_expect_eq(spec_images_read(s.fd, out, &err), want, "%s: %s", text, err.msg);
}

Test(images, rows_come_back_as_they_were_appended)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_images_fini) struct spec_images t = { 0 };
	struct spec_image_row row = {
		.stored = tricky,
		.real_path = plain,
		.build_id = { .len = 3, .bytes = { 0x01, 0xab, 0xff } },
		.mtime = 1,
		.size = UINT64_MAX,
		.inode = 3,
		.dev_major = 8,
		.dev_minor = 1,
		.note = deleted,
	};
	struct spec_image_row bare = { .stored = plain,
				       .real_path = tricky,
				       .note = dash };
	const struct spec_image_row *got;

	cr_assert_eq(spec_images_append(s.fd, &row, NULL), 0);
	cr_assert_eq(spec_images_append(s.fd, &bare, NULL), 0);
	cr_assert_eq(spec_images_read(s.fd, &t, NULL), 0);
	cr_assert_eq(t.nr, 2);
	got = spec_images_find(&t, tricky);
	cr_assert(got);
	cr_expect_str_eq(got->real_path, plain);
	cr_expect_eq(got->build_id.len, 3);
	cr_expect_eq(memcmp(got->build_id.bytes, row.build_id.bytes, 3), 0);
	cr_expect_eq(got->mtime, 1);
	cr_expect_eq(got->size, UINT64_MAX);
	cr_expect_eq(got->inode, 3);
	cr_expect_eq(got->dev_major, 8);
	cr_expect_eq(got->dev_minor, 1);
	cr_expect_str_eq(got->note, "deleted");
	got = spec_images_find(&t, plain);
	cr_assert(got);
	cr_expect_str_eq(got->real_path, tricky);
	cr_expect_eq(got->build_id.len, 0);
	cr_expect_str_eq(got->note, "-");
	cr_expect_null(spec_images_find(&t, "/none"));
}

Test(images, of_a_session_of_oprofile_are_none)
{
	CLEANUP(scratch_fini) struct scratch s = scratch_new();
	CLEANUP(spec_images_fini) struct spec_images t = { 0 };

	cr_expect_eq(spec_images_read(s.fd, &t, NULL), 0);
	cr_expect_eq(t.nr, 0);
	cr_expect_null(spec_images_find(&t, "/bin/ls"));
}

Test(images, the_last_row_of_a_name_counts)
{
	CLEANUP(spec_images_fini) struct spec_images t = { 0 };

	read_text(HEADER "/a\t/one\t-\t1\t1\t-\t1\t-\n/b\t/b\t-\t1\t1\t-\t1\t-\n"
			 "/a\t/two\t00\t2\t2\t0:5\t2\t-\n",
		  &t, 0);
	cr_expect_eq(t.nr, 2);
	cr_expect_str_eq(spec_images_find(&t, "/a")->real_path, "/two");
}

Test(images, rows_that_make_no_sense_are_passed_over)
{
	CLEANUP(spec_images_fini) struct spec_images t = { 0 };

	read_text(HEADER "\n"
			 "short\t/x\n"
			 "long\t/x\t-\t1\t1\t-\t1\t-\t-\n"
			 "-\t/x\t-\t1\t1\t-\t1\t-\n"
			 "noid\t/x\tabc\t1\t1\t-\t1\t-\n"
			 "badid\t/x\t0x+1\t1\t1\t-\t1\t-\n"
			 "neg\t/x\t-\t-1\t1\t-\t1\t-\n"
			 "dev\t/x\t-\t1\t1\t8\t1\t-\n"
			 "dev2\t/x\t-\t1\t1\t8:\t1\t-\n"
			 "empty\t/x\t-\t1\t1\t-\t1\t\n"
			 "good\t/x\t-\t1\t1\t-\t1\t-\n"
			 "cut\t/x\t-\t1\t1\t-\t1\tno newl",
		  &t, 0);
	cr_expect_eq(t.nr, 1, "%zu", t.nr);
	cr_expect(spec_images_find(&t, "good"));
}

Test(images, a_row_after_one_cut_short_is_whole)
{
	static const char row[] = "cut\t/x\t00\t12\t34\t8:1\t56\tdeleted";
	char name[] = "/new";
	struct spec_image_row fresh = { .stored = name, .real_path = name };

	for (size_t len = 1; len < sizeof(row); len++) {
		CLEANUP(scratch_fini) struct scratch s = scratch_new();
		CLEANUP(spec_images_fini) struct spec_images t = { 0 };
		char text[100];

		snprintf(text, sizeof(text), HEADER "%.*s", (int)len, row);
		scratch_write(&s, "images", text, strlen(text));
		cr_assert_eq(spec_images_append(s.fd, &fresh, NULL), 0);
		cr_assert_eq(spec_images_read(s.fd, &t, NULL), 0);
		cr_expect_eq(t.nr, 1, "cut at %zu: %zu rows", len, t.nr);
		cr_expect(spec_images_find(&t, "/new"));
	}
}

Test(images, of_another_version_are_refused)
{
	CLEANUP(spec_images_fini) struct spec_images t = { 0 };

	read_text("# opfs images 2\n", &t, -EBADMSG);
	read_text("# opfs im", &t, -EBADMSG);
	read_text("", &t, 0);
	read_text(HEADER, &t, 0);
}

Test(images, a_note_tells_the_process_of_a_container)
{
	static char notes[][24] = { "container 42", "container", "container x",
				    "container -1", "deleted",   "container 4294967296" };
	const uint32_t want[] = { 42, 0, 0, 0, 0, 0 };
	struct spec_image_row row = { 0 };

	cr_expect_eq(spec_image_container(&row), 0);
	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
		row.note = notes[i];
		cr_expect_eq(spec_image_container(&row), want[i], "%s", notes[i]);
	}
}
